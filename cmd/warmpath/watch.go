package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"warmpath/cmd/warmpath/watch"
	"warmpath/gateway/config"
	"warmpath/gateway/display"
	"warmpath/rewrite"
	"warmpath/rewrite/printable"
)

const watchUsage = `usage: warmpath watch [flags] [CONVERSATION]

Shows a conversation as a chat, as it was and as it goes on: what is said on
standard output, and all else (calls of tools, what they gave, reasoning) on
standard error. The gateway must keep the log of conversations (log.events). The
name of a conversation is in the reply header warmpath-conversation; last is the
newest. Without a name it lists those that the log has.

How much is shown of results is set in the section display of the configuration
file. On a terminal, prompts of the conversation that wait for somebody are asked
here: Ctrl-D declines, Ctrl-C tells the model that the turn is stopped. Without a
prompt, Ctrl-C ends the program.

`

// watchOptions are the flags of watch.
type watchOptions struct {
	admin, view                  string
	explicit, follow, answer     bool
	results, reasoning, controls string
	conversation                 string
	sources                      *config.Sources
	in                           io.Reader
	stdout, stderr               io.Writer
	interrupts                   <-chan os.Signal
}

// watchCommand shows a conversation.
func watchCommand(args []string, stdout, stderr io.Writer) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	return watchWith(args, os.Stdin, stdout, stderr, interrupts)
}

func watchWith(args []string, stdin io.Reader, stdout, stderr io.Writer, interrupts <-chan os.Signal) int {
	o := watchOptions{sources: config.NewSources(os.LookupEnv), in: stdin, stdout: stdout, stderr: stderr, interrupts: interrupts}
	typing := watch.Typed(stdin) && terminal(stderr)
	flags := flag.NewFlagSet("watch", flag.ContinueOnError)
	flags.StringVar(&o.admin, "admin", cmp.Or(os.Getenv("WARMPATH_ADMIN"), "127.0.0.1:9464"), "the gateway's admin `address`; its token is in WARMPATH_ADMIN_TOKEN")
	flags.StringVar(&o.sources.File, "config", "", "configuration `file` whose section display holds (WARMPATH_CONFIG)")
	flags.StringVar(&o.view, "view", "raw", "which `view` of the conversation: raw, user or portable")
	flags.BoolVar(&o.explicit, "explicit", false, "in the view user, show only results that name the user")
	flags.BoolVar(&o.follow, "follow", true, "go on with what happens")
	flags.BoolVar(&o.answer, "answer", typing, "answer prompts by typed lines; on by itself on a terminal")
	flags.StringVar(&o.results, "results", "", "how `much` is shown of results, for every tool that the file has nothing of: off, full, or a number of lines")
	flags.StringVar(&o.reasoning, "reasoning", "", "how `much` is shown of reasoning: off, full, or a number of lines")
	flags.StringVar(&o.controls, "controls", "", "what `becomes` of control sequences in what is shown: strip, visualise or off")
	if code, ok := parseFlags(flags, watchUsage, args, stdout, stderr); !ok {
		return code
	}
	if o.conversation = flags.Arg(0); flags.NArg() > 1 || o.view != "raw" && o.view != "user" && o.view != "portable" {
		fmt.Fprintln(stderr, "warmpath watch: wants one conversation at most, and a view that is raw, user or portable; see warmpath help watch")
		return exitUsage
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(stderr, "warmpath watch:", err)
		return exitFailure
	}
	return exitOK
}

func (o *watchOptions) run() error {
	settings, err := o.settings()
	if err != nil {
		return err
	}
	client := watch.NewClient(o.admin, os.Getenv("WARMPATH_ADMIN_TOKEN"))
	ctx := context.Background()
	if o.conversation == "" || o.conversation == "last" {
		found, err := client.Conversations(ctx, 50)
		if err != nil {
			return err
		}
		if o.conversation == "" || len(found) == 0 {
			listConversations(o.stdout, found)
			return nil
		}
		o.conversation = found[0].ID
	}
	s := watch.Session{
		Log:        &watch.Log{Client: client, Conversation: o.conversation, View: o.view, Explicit: o.explicit},
		Drawer:     watch.NewDrawer(watch.TerminalOf(o.stdout, o.stderr, showsColour), &settings),
		Follow:     o.follow,
		Interrupts: o.interrupts,
	}
	if o.answer {
		s.Lines = watch.NewLines(o.in)
	}
	err = s.Run(ctx)
	if status, ok := errors.AsType[*watch.StatusError](err); ok && status.Status == http.StatusUnauthorized {
		return fmt.Errorf("%w; give its token in WARMPATH_ADMIN_TOKEN", err)
	}
	return err
}

// settings are those of the file, with what the flags say.
func (o *watchOptions) settings() (display.Settings, error) {
	s, err := config.LoadDisplay(o.sources)
	if err != nil {
		return s, err
	}
	text := func(flag string) rewrite.JSON {
		if len(flag) > 0 && flag[0] == '{' {
			return rewrite.JSON(flag)
		}
		return rewrite.JSON(fmt.Sprintf("%q", flag))
	}
	if o.results != "" {
		results, err := display.ParseResults(text(o.results))
		if err != nil {
			return s, fmt.Errorf("--results %w", err)
		}
		s.Every.Results = &results
	}
	if o.reasoning != "" {
		bound, err := display.ParseBound(text(o.reasoning))
		if err != nil || bound == display.Chat {
			return s, errors.New("--reasoning is no bound; write off, full or a number of lines")
		}
		s.Reasoning = &bound
	}
	if o.controls != "" {
		known := false
		for _, mode := range printable.Modes {
			if mode.String() == o.controls {
				s.Controls, known = mode, true
			}
		}
		if !known {
			return s, errors.New("--controls is unknown; write strip, visualise or off")
		}
	}
	return s, nil
}

func listConversations(to io.Writer, found []watch.Conversation) {
	if len(found) == 0 {
		fmt.Fprintln(to, "The log has no conversations.")
		return
	}
	clean := printable.Style{}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONVERSATION\tUPDATED\tTURNS\tMODEL")
	for _, c := range found {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", clean.Line(c.ID), c.Updated.Local().Format(time.DateTime), c.Turns, clean.Line(c.Model))
	}
	_ = w.Flush()
}
