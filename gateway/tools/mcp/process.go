package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

const (
	// largestMessage bounds what a server sends at once.
	largestMessage = 16 << 20
	// patience is how long a process may take to end when its input does, and then
	// again when it is told to.
	patience = 2 * time.Second
	// writeTime bounds how long a server may leave its input unread.
	writeTime = 10 * time.Second
)

// inherited are the variables of the gateway's own environment that a server gets:
// what programs need to run at all, and none of its keys.
var inherited = []string{
	"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "WINDIR",
}

func (c *Config) environment() []string {
	var env []string
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range c.Env {
		env = append(env, name+"="+value.Reveal())
	}
	return env
}

// process is a running server and both ends of its pipes.
type process struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	errOut *os.File
	said   *said
	lines  *bufio.Reader
	rest   []byte
	exited chan struct{}
	close  sync.Once
	// talk ends when the last of the server's error output is read.
	talk sync.WaitGroup
}

// start starts a server's process as the leader of a group of its own, which ends
// with it.
func start(c *Config, s *said) (*process, error) {
	p := &process{cmd: exec.Command(c.Command, c.Args...), said: s, exited: make(chan struct{})} //nolint:gosec // the operator has named it
	p.cmd.Env = c.environment()
	ownGroup(p.cmd)
	var theirs [3]*os.File
	var err error
	for i, end := range []**os.File{&p.in, &p.out, &p.errOut} {
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			break
		}
		*end, theirs[i] = r, w
		if i == 0 {
			*end, theirs[i] = w, r
		}
	}
	if err == nil {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
		err = p.cmd.Start()
	}
	for _, file := range theirs {
		_ = file.Close() // nil files give an error and nothing else
	}
	if err != nil {
		for _, file := range []*os.File{p.in, p.out, p.errOut} {
			_ = file.Close()
		}
		return nil, fmt.Errorf("%w: %w", errStart, bare(err))
	}
	p.lines = bufio.NewReaderSize(p.out, 64<<10)
	p.talk.Go(func() {
		s.read("stderr", p.errOut)
		_ = p.errOut.Close()
	})
	go p.wait()
	return p, nil
}

// bare is the reason of an error without the program's path or the server's address,
// which are the operator's own.
func bare(err error) error {
	var at *os.PathError
	var in *exec.Error
	var of *url.Error
	switch {
	case errors.As(err, &in):
		return in.Err
	case errors.As(err, &at):
		return at.Err
	case errors.As(err, &of):
		return of.Err
	}
	return err
}

// wait reaps the process and ends what it has left running, so that its output ends
// too. What has left the group may go on, and is not waited for.
func (p *process) wait() {
	_ = p.cmd.Wait()
	endGroup(p.cmd, true)
	for _, file := range []*os.File{p.out, p.errOut} {
		_ = file.SetReadDeadline(time.Now().Add(patience))
	}
	close(p.exited)
}

// Read gives the server's messages, a line each. Lines that are none go to the log:
// many a program prints before it speaks.
func (p *process) Read(into []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.line()
		if len(line) > 0 {
			if text := bytes.TrimSpace(line); len(text) > 0 && (text[0] == '{' || text[0] == '[') && gjson.ValidBytes(text) {
				p.rest = append(kept(text, ""), '\n')
				break
			}
			p.said.line("stdout", string(line[:min(len(line), longestLine)]))
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// errLarge ends the connection to a server that sends more than anyone can use.
var errLarge = errors.New("a message is larger than 16 MiB")

// line is the next line of the output.
func (p *process) line() (line []byte, err error) {
	for {
		part, err := p.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > largestMessage:
			return nil, errLarge
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, os.ErrClosed):
			err = io.EOF
		}
		return line, err
	}
}

// Write sends messages to the server.
func (p *process) Write(message []byte) (int, error) {
	_ = p.in.SetWriteDeadline(time.Now().Add(writeTime)) // a pipe that has none blocks as ever
	return p.in.Write(message)
}

// Close ends the process: by the end of its input, by a signal, by force. It returns
// when the process and its group are gone.
func (p *process) Close() error {
	p.close.Do(func() {
		_ = p.in.Close()
		for _, force := range []bool{false, true} {
			select {
			case <-p.exited:
			case <-time.After(patience):
				endGroup(p.cmd, force)
			}
		}
		<-p.exited
		_ = p.out.Close()
		p.talk.Wait()
	})
	return nil
}

// stdio is the transport to a process.
type stdio struct{ *process }

func (s stdio) Connect(ctx context.Context) (protocol.Connection, error) {
	transport := &protocol.IOTransport{Reader: s.process, Writer: closeless{s.process}, MaxLineLength: -1}
	return transport.Connect(ctx)
}

// closeless is the writing half of what the reading half closes.
type closeless struct{ io.Writer }

func (closeless) Close() error { return nil }
