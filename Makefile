# What CI runs, one target at a time. FUZZTIME bounds each fuzz target.
FUZZTIME ?= 20s
GO ?= go

.PHONY: build test check lint bench fuzz clients deployment browser

build:
	$(GO) build -trimpath -o bin/warmpath ./cmd/warmpath

test:
	$(GO) test -race ./...

# Format, vet, lint and the house rules: imports, sizes, comments, changelog.
check: lint
	@files=$$(git ls-files -z '*.go' | xargs -0r gofmt -l); \
	if [ -n "$$files" ]; then echo "gofmt wants: $$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) test ./cmd/warmpath -run '^TestHouse'

lint:
	@if command -v golangci-lint >/dev/null; then golangci-lint run; \
	else echo "golangci-lint is not installed; skipped"; fi

# The Go benchmarks, then the gateway as a process beside others.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	$(GO) run ./fixtures/bench

# Every fuzz target of every package, one after the other: go test fuzzes only
# one at a time. When time is up while a worker is slow, it says "context deadline
# exceeded" and fails although no input did (go.dev/issue/75804); an input that
# fails is always named.
fuzz:
	@set -e; $(GO) list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r pkg dir; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$dir"/*_test.go 2>/dev/null); do \
			echo "fuzz $$pkg $$target $(FUZZTIME)"; \
			out=$$($(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg" 2>&1) && ok=1 || ok=; \
			echo "$$out" | tail -n 40; \
			if [ -z "$$ok" ]; then case "$$out" in \
				*"Failing input"*) exit 1 ;; \
				*"    context deadline exceeded"*) echo "no input failed" ;; \
				*) exit 1 ;; \
			esac; fi; \
		done; \
	done

# The official client libraries against a running gateway; a module of its own,
# so that they are no dependency of the product. Unoptimized, because compiling
# the libraries takes longer than all the tests.
PLAIN = -gcflags='github.com/anthropics/...=-N -l' -gcflags='github.com/openai/...=-N -l' -gcflags='google.golang.org/genai=-N -l'
clients:
	cd fixtures/clients && $(GO) vet ./... && $(GO) test $(PLAIN) ./...

# What is shipped in deploy against the programs that it is made for; a module of
# its own as well. After a change of the panels: go test -run Dashboards -update there.
deployment:
	cd fixtures/deployment && $(GO) vet ./... && $(GO) test ./...

# The console in Chromium; a module of its own as well. After a change of the design:
# go test -run Pictures . -args -update there.
browser:
	cd fixtures/browser && $(GO) vet ./... && $(GO) test ./...
