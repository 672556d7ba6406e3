package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/server"
	sessions "warmpath/fixtures/session"
)

// asCommand says that this program is started as the command itself.
const asCommand = "WARMPATH_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		_ = os.Unsetenv(asCommand)
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// sample is a copy of the sample repository, with its agent built and the command at
// hand.
type sample struct {
	folder string
	env    []string
}

func newSample(t *testing.T) *sample {
	t.Helper()
	s := &sample{folder: t.TempDir()}
	if err := os.CopyFS(s.folder, os.DirFS("../../fixtures/sample")); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "agent", ".")
	build.Dir = s.folder
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	if err := os.Symlink(self, filepath.Join(programs, "warmpath")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	simulated := httptest.NewServer(server.New(provider.New(provider.Options{})))
	t.Cleanup(simulated.Close)
	s.env = append(os.Environ(), asCommand+"=1", "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "PROVIDER="+simulated.URL)
	return s
}

// run runs a script of the repository.
func (s *sample) run(t *testing.T, script string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", script)
	var out, told bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.folder, s.env, &out, &told
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), told.String()
}

// junit is what JUnit's XML may hold, and nothing else.
type junit struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suite    struct {
		Name  string `xml:"name,attr"`
		Stamp string `xml:"timestamp,attr"`
		Cases []struct {
			Name    string  `xml:"name,attr"`
			Class   string  `xml:"classname,attr"`
			Time    float64 `xml:"time,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func results(t *testing.T, path string) (r junit) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := xml.NewDecoder(file)
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if rest, err := decoder.Token(); err != io.EOF && strings.TrimSpace(string(rest.(xml.CharData))) != "" {
		t.Errorf("behind the results stands %v", rest)
	}
	if r.Tests != len(r.Suite.Cases) || r.Suite.Name == "" || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:]{8}$`).MatchString(r.Suite.Stamp) {
		t.Errorf("the results are %+v", r)
	}
	return r
}

// A repository with an agent, its tape and its check: green as it is, green when it is
// recorded anew, and red once somebody reorders its tools.
func TestSampleRepository(t *testing.T) {
	clearVariables(t)
	s := newSample(t)
	green := func(when string) {
		t.Helper()
		code, stdout, stderr := s.run(t, "check.sh")
		if code != 0 || !strings.Contains(stdout, "Take an umbrella.") {
			t.Errorf("%s: exit code %d, %s%s", when, code, stdout, stderr)
		}
		for _, name := range []string{"agent.xml", "gateway.xml"} {
			if r := results(t, filepath.Join(s.folder, name)); r.Tests != 1 || r.Failures != 0 || r.Suite.Cases[0].Failure != nil {
				t.Errorf("%s: %s has %+v", when, name, r)
			}
		}
	}
	green("as committed")
	if code, stdout, stderr := s.run(t, "record.sh"); code != 0 {
		t.Fatalf("recording ends with %d: %s%s", code, stdout, stderr)
	}
	tape, err := sessions.Load(filepath.Join(s.folder, "tapes", "weather"))
	if err != nil || tape.Manifest.Expect == nil || len(tape.Exchanges) != 2 {
		t.Errorf("%v, the tape has %+v", err, tape)
	}
	green("recorded anew")

	tools := filepath.Join(s.folder, "tools.json")
	text, err := os.ReadFile(tools)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines[1], lines[2] = lines[2]+",", strings.TrimSuffix(lines[1], ",")
	writeFile(t, tools, strings.Join(lines, "\n"))
	code, _, stderr := s.run(t, "check.sh")
	const says = "tools was weather, map, and is in another order, map, weather"
	if code == 0 || !strings.Contains(stderr, says) || !strings.Contains(stderr, "the nearest is weather, call 1 of exchange 001") {
		t.Errorf("with other tools: exit code %d, %s", code, stderr)
	}
	if r := results(t, filepath.Join(s.folder, "agent.xml")); r.Failures != 1 || r.Suite.Cases[0].Failure == nil || !strings.Contains(r.Suite.Cases[0].Failure.Message, says) {
		t.Errorf("with other tools the results are %+v", r)
	}
}

// Without a command it serves until it is told to stop, says where, and takes no key
// with it.
func TestRecordUntilStopped(t *testing.T) {
	clearVariables(t)
	simulated := httptest.NewServer(server.New(provider.New(provider.Options{})))
	defer simulated.Close()
	folder := filepath.Join(t.TempDir(), "tape")
	signals, stdout, stderr, ended := make(chan os.Signal, 1), newOutput(), newOutput(), make(chan int, 1)
	go func() {
		ended <- recordUntil(signals, []string{"--out", folder, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", "anthropic=" + simulated.URL}, stdout, stderr)
	}()
	stdout.await(t, "Recording to ")
	base := regexp.MustCompile(`ANTHROPIC_BASE_URL=(\S+)`).FindStringSubmatch(stdout.String())[1]
	if status := get(t, base+"/v1/messages", http.Header{"X-Api-Key": {"key-of-a-client"}}); status != http.StatusBadRequest {
		t.Errorf("the provider said %d", status)
	}
	signals <- syscall.SIGINT
	if code := <-ended; code != exitOK || !strings.Contains(stderr.String(), "recorded 1 request with 1 call") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	tape, err := sessions.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if clients, _ := tape.Sides(); !strings.Contains(clients, "invalid_request_error") || tape.Manifest.Dialect != "messages" {
		t.Errorf("the tape has %q, %+v", clients, tape.Manifest)
	}
	var again bytes.Buffer
	if code := recordUntil(nil, []string{"--out", folder, "--", "true"}, &again, &again); code != exitFailure || !strings.Contains(again.String(), "--refresh") {
		t.Errorf("over a tape: exit code %d, %s", code, &again)
	}
}

// Values of variables that are called like a secret are on no tape.
func TestSecretVariables(t *testing.T) {
	got := secretVariables([]string{
		"MY_API_KEY=one", "DB_PASS=two", "PGPASSWORD=three", "KEY_PASSPHRASE=four", "SESSION_COOKIE=five",
		"PATH=/bin", "MYSQL_PWD=six", "PWD=/home", "SSH_AUTH_SOCK=/tmp/agent", "TOKENIZERS_PARALLELISM=false",
	})
	want := []string{"one", "two", "three", "four", "five", "six"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the secrets (-want +got):\n%s", diff)
	}
}

// What record and replay cannot do they say, and do not begin.
func TestTapesRefuse(t *testing.T) {
	clearVariables(t)
	empty := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no folder":                 {[]string{"record"}, exitUsage, "needs --out"},
		"a command without --":      {[]string{"record", "--out", "x", "agent"}, exitUsage, "behind --"},
		"another mode of tapes":     {[]string{"record", "--tape", "burn", "--out", "x"}, exitUsage, "--tape is one of"},
		"a replay for nobody":       {[]string{"record", "--tape", "replay", "--out", "x"}, exitUsage, "needs a command"},
		"a secret of one letter":    {[]string{"record", "--out", "x", "--hide", "a"}, exitUsage, "too short"},
		"an expression that is not": {[]string{"record", "--out", "x", "--vary", "("}, exitUsage, "missing closing"},
		"nor one for a replay":      {[]string{"replay", "x", "--vary", "("}, exitUsage, "missing closing"},
		"no tape to replay":         {[]string{"replay"}, exitUsage, "needs a DIR"},
		"a folder without tapes":    {[]string{"replay", empty}, exitFailure, "there is none in"},
		"a folder that is not":      {[]string{"replay", filepath.Join(empty, "x")}, exitFailure, "no such file"},
		"to drive and to run":       {[]string{"replay", "--drive", "x", "--", "y"}, exitUsage, "not both"},
		"a gateway for nobody":      {[]string{"replay", "x", "--retries", "1"}, exitUsage, "has no gateway"},
		"an update of nothing":      {[]string{"replay", "x", "--update"}, exitUsage, "updates with --drive only"},
		"another pace":              {[]string{"replay", "x", "--pace", "fast"}, exitUsage, "x10"},
		"another damage":            {[]string{"replay", "x", "--damage", "fire"}, exitUsage, "split=SEED"},
		"a damage without a number": {[]string{"replay", "x", "--damage", "cut=all"}, exitUsage, "needs a number"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(tc.args, &stdout, &stderr); code != tc.code || !strings.Contains(stderr.String(), tc.says) {
			t.Errorf("%s: exit code %d, %q", name, code, &stderr)
		}
	}
}

// What the README shows of the sample repository is what is there.
func TestReadmeShowsTheSample(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"check.sh", ".github/workflows/cache.yml"} {
		text, err := os.ReadFile(filepath.Join("../../fixtures/sample", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(readme, text) {
			t.Errorf("README.md does not have %s as it is", name)
		}
	}
}
