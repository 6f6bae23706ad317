package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"clank/browsermgr/control"
	"clank/browsermgr/control/client"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/google/go-cmp/cmp"
)

// fillValue puts text into every string within v, a number into each number, and one entry into each list.
func fillValue(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillValue(field, text)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0), text)
	default:
	}
}

// filledValue returns a T with text in all its strings.
func filledValue[T any](text string) T {
	var v T
	fillValue(reflect.ValueOf(&v).Elem(), text)
	return v
}

func TestNothingThatAPageWroteWorksTheTerminal(t *testing.T) {
	const hostile = "a\x1b]0;b\x07c\u009bd\re"
	done := filledValue[client.Result](hostile)
	failed := filledValue[client.Result](hostile)
	failed.Results[0].OK = false
	quiet := filledValue[client.Result](hostile)
	quiet.Results[0].Navigated = false
	text := filledValue[client.Snapshot](hostile)
	text.Nodes = nil
	nowhere := filledValue[client.TabList](hostile)
	nowhere.Tabs[0].URL = ""
	for name, print := range map[string]func(p *outputPrinter){
		"status":       func(p *outputPrinter) { printBrowserStatus(p, filledValue[client.ProfileStatus](hostile)) },
		"profiles":     func(p *outputPrinter) { printProfiles(p, filledValue[profileList](hostile)) },
		"report":       func(p *outputPrinter) { printReport(p, filledValue[client.Report](hostile)) },
		"tabs":         func(p *outputPrinter) { printTabs(p, filledValue[client.TabList](hostile)) },
		"no address":   func(p *outputPrinter) { printTabs(p, nowhere) },
		"nodes":        func(p *outputPrinter) { printSnapshot(p, filledValue[client.Snapshot](hostile)) },
		"text":         func(p *outputPrinter) { printSnapshot(p, text) },
		"consequences": func(p *outputPrinter) { printConsequences(p, done) },
		"batch":        func(p *outputPrinter) { printBatch(p, done) },
		"failed batch": func(p *outputPrinter) { printBatch(p, failed) },
		"quiet batch":  func(p *outputPrinter) { printBatch(p, quiet) },
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			p := newOutputPrinter(&out, &out)
			print(p)
			check.Must(t, p.Flush())
			obeyed := strings.IndexFunc(out.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' })
			if obeyed >= 0 || !strings.Contains(out.String(), "a]0;b") {
				t.Errorf("got %q, want the text without what is obeyed", out.String())
			}
		})
	}
}

func TestJSONIsPrintedToBeRead(t *testing.T) {
	var out strings.Builder
	p := newOutputPrinter(&out, io.Discard)
	answer := []byte(`["\u00fc \u0026 \ud83c\udf89\n","\u001b[31m","\u009b","\u202e","\ud800","\\u0026"]`)
	check.Must(t, errors.Join(p.JSON(answer), p.JSON(map[string]string{"a": "<&>"}), p.Flush()))
	want := `[
  "ü & 🎉\n",
  "\u001b[31m",
  "\u009b",
  "\u202e",
  "\ud800",
  "\\u0026"
]
{
  "a": "<&>"
}
`
	check.Equal(t, "printed", out.String(), want)
}

func TestInvalidJSONIsNotPrinted(t *testing.T) {
	var out strings.Builder
	p := newOutputPrinter(&out, io.Discard)
	for _, v := range []any{[]byte("<html>"), func() {}} {
		check.Fails(t, p.JSON(v), nil, "print the answer: json: ")
	}
	if err := p.Flush(); err != nil || out.Len() > 0 {
		t.Errorf("got %q %v, want nothing", out.String(), err)
	}
}

func TestATextEndsItsLine(t *testing.T) {
	for text, want := range map[string]string{"a\nb": "a\nb\n", "a\n": "a\n", "": ""} {
		var out strings.Builder
		p := newOutputPrinter(&out, io.Discard)
		p.Text(text)
		if err := p.Flush(); err != nil || out.String() != want {
			t.Errorf("got %q %v, want %q", out.String(), err, want)
		}
	}
}

// fullWriter is a disk without space.
type fullWriter struct{ err error }

func (w fullWriter) Write([]byte) (int, error) { return 0, w.err }

func TestAFailureToWriteOutputIsReported(t *testing.T) {
	want := errors.New("no space left")
	p := newOutputPrinter(fullWriter{want}, io.Discard)
	p.Line("more")
	check.Fails(t, p.Flush(), want)
}

func TestLiveLineIsRewrittenAndTakenAway(t *testing.T) {
	var b bytes.Buffer
	p := &progressPrinter{Out: &b, Width: 20}
	ev := func(label string) sessions.Event {
		return sessions.Event{Step: &sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: label}}
	}
	p.showEvent(ev("open something with a very long name"))
	p.showEvent(ev("b"))
	p.clearLine()
	check.Equal(t, "terminal", b.String(), "\r\x1b[K1 open something w…\r\x1b[K2 b …\r\x1b[K")
}

func TestClippedTextIsOneLine(t *testing.T) {
	for text, want := range map[string]string{"a\n b": "a b", "grün und": "grün…", "": ""} {
		check.Equal(t, text, clipLine(text, 5), want)
	}
}

func TestTheTerminalAsksAndReadsTheAnswer(t *testing.T) {
	d := &approval.Queue{}
	in, keys := io.Pipe()
	out := newTranscript()
	p := startApprovalPrompter(t.Context(), in, out, func(_ context.Context, id string, a approval.Answer) error {
		a.By = "you"
		return d.Answer(id, a)
	})
	f := d.Follow(func(approval.Question) bool { return true })
	defer f.Close()
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		for ev, err := f.Next(ctx); err == nil; ev, err = f.Next(ctx) {
			p.HandleEvent(ev)
		}
	}()
	for i, tt := range []struct {
		class approval.Class
		line  string
		want  approval.Answer
	}{
		{approval.ClassBuy, "y", approval.Answer{Allowed: true, By: "you"}},
		{approval.ClassBuy, "s", approval.Answer{By: "you"}},
		{approval.ClassSend, "S", approval.Answer{Allowed: true, ForSession: true, By: "you"}},
		{approval.ClassDelete, "", approval.Answer{By: "you"}},
		{approval.ClassDelete, "maybe", approval.Answer{By: "you"}},
		{approval.ClassAnswer, " 2 ", approval.Answer{Allowed: true, Text: "Large", By: "you"}},
		{approval.ClassAnswer, "3 of Them", approval.Answer{Allowed: true, Text: "3 of Them", By: "you"}},
		{approval.ClassAnswer, " ", approval.Answer{By: "you"}},
	} {
		got := make(chan approval.Answer, 1)
		text := strings.Repeat("x", i+1) + " marks it"
		go func() {
			q := approval.Question{Class: tt.class, Session: "s", Text: text, Detail: text + "? Buy\x1b[2J\u202enow"}
			q.Choices = []string{"small", "Large"}
			a, _ := d.Ask(t.Context(), q)
			got <- a
		}()
		awaitOutput(t, out, text+"?")
		check.Lacks(t, out.text(), "\x1b")
		check.Must(t, check.Err(io.WriteString(keys, tt.line+"\n")))
		check.Equal(t, fmt.Sprintf("%q to %s", tt.line, tt.class), <-got, tt.want)
	}
	stop()
	<-followed
	check.Must(t, p.Close())
}

func TestTheClientReadsProfilesAsTheServerWritesThem(t *testing.T) {
	t.Run("status", readsAll[client.ProfileStatus, profile.Status])
	t.Run("list", readsAll[client.Profile, profile.Info])
	t.Run("tabs", readsAll[client.TabList, control.TabList])
	t.Run("opened tab", readsAll[client.OpenedTab, control.OpenedTab])
}

// readsAll checks that every field of the client's type is read from what the server's type is written as.
func readsAll[Read, Written any](t *testing.T) {
	t.Helper()
	data, err := json.Marshal(filledValue[Written]("x"))
	check.Must(t, err)
	var got Read
	check.Must(t, json.Unmarshal(data, &got))
	if diff := cmp.Diff(filledValue[Read]("x"), got); diff != "" {
		t.Error(diff)
	}
}
