package mcp

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"warmpath/gateway/secret"
)

// actVariable makes the test's own program a server, of the kind that it names.
const actVariable = "WARMPATH_TEST_MCP"

func TestMain(m *testing.M) {
	if kind := os.Getenv(actVariable); kind != "" {
		acts[kind](bufio.NewReader(os.Stdin))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// program is the configuration of a server that acts as one of acts.
func program(name, kind string, env ...string) Config {
	variables := map[string]secret.String{actVariable: secret.New(kind)}
	for _, pair := range env {
		variable, value, _ := strings.Cut(pair, "=")
		variables[variable] = secret.New(value)
	}
	return Config{Name: name, Command: os.Args[0], Env: variables, Connect: 20 * time.Second, Timeout: 20 * time.Second}
}

// acts are servers that speak the protocol by hand, in a version with a handshake,
// and misbehave.
var acts = map[string]func(*bufio.Reader){
	"plain": func(in *bufio.Reader) { serve(in, nil) },
	// Prints before it speaks, and between its messages.
	"chatty": func(in *bufio.Reader) {
		fmt.Println("Server starting on stdio ...")
		fmt.Println(`{"level":"info","text":"a line of JSON that is no mess`)
		fmt.Fprintln(os.Stderr, "the key is", os.Getenv("API_KEY"), "\x1b[31mred\x1b[0m")
		serve(in, func(method string, _ gjson.Result) (string, bool) {
			fmt.Println("now at " + method)
			return "", false
		})
	},
	// Never answers anything.
	"mute": func(in *bufio.Reader) { serve(in, func(string, gjson.Result) (string, bool) { return "", true }) },
	// Knows nothing of the newest version and leaves its first question unanswered.
	"deaf": func(in *bufio.Reader) {
		serve(in, func(method string, _ gjson.Result) (string, bool) { return "", method == "server/discover" })
	},
	// Dies of the newest version's first question.
	"fragile": func(in *bufio.Reader) {
		serve(in, func(method string, _ gjson.Result) (string, bool) {
			if method == "server/discover" {
				os.Exit(3)
			}
			return "", false
		})
	},
	// Dies in the middle of the call of one tool.
	"mortal": func(in *bufio.Reader) {
		serve(in, func(method string, message gjson.Result) (string, bool) {
			if method == "tools/call" && message.Get("params.arguments.text").Str == "die" {
				os.Exit(3)
			}
			return "", false
		})
	},
	// Never answers calls, and writes down what it is told of them.
	"stuck": func(in *bufio.Reader) {
		serve(in, func(method string, message gjson.Result) (string, bool) {
			if method == "tools/call" || method == "notifications/cancelled" {
				note(method + " " + message.Get("params.requestId").Raw)
				return "", true
			}
			return "", false
		})
	},
	// Gives more than anybody can read.
	"huge": func(in *bufio.Reader) {
		serve(in, func(method string, message gjson.Result) (string, bool) {
			if method == "tools/call" {
				return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("x", largestMessage)), true
			}
			return "", false
		})
	},
	// Ends neither with its input nor when it is asked to, and has a child.
	"clinging": func(in *bufio.Reader) {
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "300")
		if child.Start() == nil {
			note(fmt.Sprint("child ", child.Process.Pid))
		}
		note(fmt.Sprint("self ", os.Getpid()))
		serve(in, nil)
		time.Sleep(time.Hour)
	},
	// Asks the user, of the oldest kind: without saying for which call.
	"asking": func(in *bufio.Reader) {
		serve(in, func(method string, message gjson.Result) (string, bool) {
			if method != "tools/call" {
				return "", false
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":%s}`+"\n", message.Get("params.arguments.form").Raw)
			line, _ := in.ReadString('\n')
			return `{"content":[{"type":"text","text":` + string(quoted(strings.TrimSpace(line))) + `}]}`, true
		})
	},
	// Asks for what the gateway has not.
	"greedy": func(in *bufio.Reader) {
		serve(in, func(method string, message gjson.Result) (string, bool) {
			if method != "tools/call" {
				return "", false
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":"g","method":%q,"params":{"messages":[],"maxTokens":1}}`+"\n", message.Get("params.arguments.text").Str)
			line, _ := in.ReadString('\n')
			return `{"content":[{"type":"text","text":` + string(quoted(strings.TrimSpace(line))) + `}]}`, true
		})
	},
	// Has another list after each call.
	"growing": func(in *bufio.Reader) {
		calls := 0
		serve(in, func(method string, _ gjson.Result) (string, bool) {
			switch method {
			case "tools/call":
				calls++
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				return `{"content":[]}`, true
			case "tools/list":
				var list []string
				for i := range calls + 1 {
					list = append(list, fmt.Sprintf(`{"name":"tool%d","inputSchema":{"type":"object"}}`, i))
				}
				return `{"tools":[` + strings.Join(list, ",") + `]}`, true
			}
			return "", false
		})
	},
}

// note adds a line to the file that the test reads.
func note(line string) {
	file, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(file, line)
		_ = file.Close()
	}
}

// serve answers as a server of version 2025-06-18 with one tool, echo. The act is
// asked first: done says that the method is dealt with, by the result if it has one.
func serve(in *bufio.Reader, act func(method string, message gjson.Result) (result string, done bool)) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		message := gjson.Parse(line)
		method, result, done := message.Get("method").Str, "", false
		if act != nil {
			result, done = act(method, message)
		}
		if !done {
			result = plain(method, message)
		}
		switch id := message.Get("id"); {
		case result != "" && id.Exists():
			fmt.Printf(`{"result":%s,"jsonrpc":"2.0","id":%s}`+"\n", result, id.Raw)
		case !done && id.Exists():
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", id.Raw)
		}
	}
}

func plain(method string, message gjson.Result) string {
	switch method {
	case "initialize":
		return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"by hand","version":"1"}}`
	case "tools/list":
		return `{"tools":[{"name":"echo","description":"Gives back its text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"first":{"type":"number"}},"required":["text"]}}]}`
	case "tools/call":
		return `{"content":[{"type":"text","text":` + message.Get("params.arguments.text").Raw + `}]}`
	}
	return ""
}
