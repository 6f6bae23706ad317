package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // what pictures of pages are
	_ "image/png"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// help shows what there is. It is asked for five times, for the time it takes.
func (s *smokeRun) help(ctx context.Context) (string, error) {
	var took []time.Duration
	for range 5 {
		begin := time.Now()
		out, err := s.runToEnd(ctx, "--help")
		took = append(took, time.Since(begin))
		if err := errors.Join(err, wantAll(out, "serve", "browse", "sessions")); err != nil {
			return "", err
		}
	}
	slices.Sort(took)
	return fmt.Sprintf("median %d ms, goal 50 ms", took[2].Milliseconds()), nil
}

// offline does the first try with nothing but the command itself.
func (s *smokeRun) offline(ctx context.Context) (string, error) {
	out, err := s.runToEnd(ctx, "browse", firstTry)
	return "", errors.Join(err, wantAll(out, found))
}

// serve starts the server as one does who has no account anywhere.
func (s *smokeRun) serve(ctx context.Context) (string, error) {
	return s.startServer(ctx, nil, "set OPENAI_API_KEY", "set DISCORD_TOKEN", "calls    on the page Call", firstTry)
}

func (s *smokeRun) startServer(ctx context.Context, env []string, wants ...string) (string, error) {
	begin := time.Now()
	p, err := s.start(s.environ(env...), "serve", "--addr", s.addr, "--shop-addr", s.shop, "--control-addr", "127.0.0.1:0", "--watch-addr", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if _, err := p.awaitOutput(ctx, "clank is ready"); err != nil {
		return "", err
	}
	took := time.Since(begin)
	said, err := p.awaitOutput(ctx, "Ctrl-C ends it.")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(said, "\n")
	link := strings.TrimPrefix(first, "clank is ready: ")
	if !strings.HasPrefix(link, "http://"+s.addr+"/") {
		return "", fmt.Errorf("want a link to the page in %q", first)
	}
	s.server, s.login = p, link
	return fmt.Sprintf("ready in %d ms, goal 100 ms", took.Milliseconds()), wantAll(said, wants...)
}

// outcome is what --json prints, as far as it is looked at.
type outcome struct {
	State     string `json:"state"`
	Answer    string `json:"answer"`
	SessionID string `json:"session_id"`
	Steps     int    `json:"steps"`
}

func (s *smokeRun) throughServer(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	file := filepath.Join(s.root, "page.png")
	out, err := s.runToEnd(ctx, "browse", "--screenshot", file, firstTry)
	if err := errors.Join(err, wantAll(out, found)); err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the screenshot: %w", err)
	}
	kind, err := picture(data)
	return kind, err
}

// picture decodes a picture, which must be of a page and not of a dot.
func picture(data []byte) (kind string, err error) {
	img, format, err := image.Decode(strings.NewReader(string(data)))
	if err != nil {
		return "", fmt.Errorf("decode the picture: %w", err)
	}
	size := img.Bounds().Size()
	if size.X < 300 || size.Y < 200 {
		return "", fmt.Errorf("the picture is only %v", size)
	}
	return fmt.Sprintf("%s of %d × %d", format, size.X, size.Y), nil
}

func (s *smokeRun) goesOn(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	first, err := s.browse(ctx, firstTry)
	if err := errors.Join(err, wantAll(first.Answer, found)); err != nil {
		return "", err
	}
	s.session = first.SessionID
	second, err := s.browse(ctx, "--session", s.session, `click "Aurora Desk Lamp", read`)
	if err := errors.Join(err, wantAll(second.Answer, "hinge that stays where you leave it")); err != nil {
		return "", err
	}
	if second.SessionID != first.SessionID {
		return "", fmt.Errorf("it went on in session %q, want %q", second.SessionID, first.SessionID)
	}
	list, err := s.runToEnd(ctx, "sessions")
	return "", errors.Join(err, wantAll(list, s.session))
}

// browse runs "clank browse --json" to a good end.
func (s *smokeRun) browse(ctx context.Context, args ...string) (o outcome, err error) {
	out, err := s.runToEnd(ctx, append([]string{"browse", "--json"}, args...)...)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		return o, fmt.Errorf("read the outcome %q: %w", out, err)
	}
	if o.State != "done" || o.SessionID == "" || o.Steps == 0 {
		return o, fmt.Errorf("the outcome is %+v", o)
	}
	return o, nil
}

var errNoServer = errors.New("the server does not run")

// interrupt sends Ctrl-C: the server ends, and so does all it has started.
func (s *smokeRun) interrupt(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	running, err := processes(s.home)
	if err != nil {
		return "", err
	}
	begin := time.Now()
	if err := s.server.cmd.Process.Signal(os.Interrupt); err != nil {
		return "", fmt.Errorf("interrupt the server: %w", err)
	}
	if err := s.server.end(ctx, 0); err != nil {
		return "", err
	}
	note := fmt.Sprintf("%d ms, with %d processes of the browser", time.Since(begin).Milliseconds(), len(running))
	s.server = nil
	for _, addr := range []string{s.addr, s.shop} {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr); err == nil {
			return "", errors.Join(fmt.Errorf("%s is still listened on", addr), conn.Close())
		}
	}
	_, err = s.nothingLeft(ctx)
	return note, err
}
