package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/computeruse"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// planted are secrets in the ways in which they come into a run.
var planted = []struct {
	name, secret string
	replies      []llm.Reply
}{
	{"in a password field", `hunter2"<&>é`, []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_type", `{"ref":"e4","text":"hunter2\"<&>é"}`),
		say("done"),
	}},
	{"spelled with escapes", "hunter2", []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_type", `{"ref":"@E4","text":"\u0068unter2"}`),
		say("hunter2 was right"),
	}},
	{"in a field that is called PIN", "90210", []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_type", `{"ref":"e5","text":"90210"}`),
		say("typed 90210"),
	}},
	{"short", "q7z", []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_type", `{"ref":"e5","text":"q7z"}`), say("done"),
	}},
	{"in an address", "s3cr3tpass", []llm.Reply{
		use("browser_open", `{"url":"http://ada:s3cr3tpass@shop.test/"}`), say("done"),
	}},
	{
		"a header in a text", "abcdef0123456789abcdef",
		[]llm.Reply{say("It sent Authorization: Bearer abcdef0123456789abcdef")},
	},
	{"a cookie in a text", "sid-77aa", []llm.Reply{say("It sent\nSet-Cookie: sid=sid-77aa; Secure")}},
	{"a key in a text", "sk-proj-abcdefghijklmnop", []llm.Reply{say("The key is sk-proj-abcdefghijklmnop.")}},
	{
		"a token in an address", "tok-4711-aa",
		[]llm.Reply{use("browser_open", `{"url":"http://shop.test/?a=1&access_token=tok-4711-aa&b=2"}`), say("done")},
	},
	{
		"a token in an address with escapes", "tok-4711-aa",
		[]llm.Reply{say(`See {"url":"http://shop.test/?a=1\u0026X-Amz-Signature=tok-4711-aa"}.`)},
	},
	{
		"a code in a fragment", "c0de-77-long",
		[]llm.Reply{say("It went to [home](http://shop.test/cb#code=c0de-77-long&state=x), which works.")},
	},
	{
		"a web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl",
		[]llm.Reply{say("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl back")},
	},
	{
		"headers in an object", "dXNlcjpwYXNz",
		[]llm.Reply{say(`It sent {"Authorization": "Basic dXNlcjpwYXNz", "accept": "*/*"}`)},
	},
	{"a key in a header", "k-4711-k", []llm.Reply{say("curl -H 'X-Api-Key: k-4711-k'")}},
}

func TestBundleHoldsNoSecret(t *testing.T) {
	t.Parallel()
	for i, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			// a time may hold a short secret
			rec := &recording.Recorder{Dir: t.TempDir(), Now: func() time.Time { return time.Unix(1, 0) }}
			prompt := "log in"
			if len(p.secret) > 3 && len(p.replies) == 3 {
				prompt = "log in with " + p.secret // it is only known to be one when it is typed
			}
			id := fmt.Sprintf("t%d", i)
			check.Must(t, work(t, agent(rec, &script{replies: p.replies}), id, prompt))
			all := everything(t, rec.Dir)
			quoted, err := json.Marshal(p.secret)
			check.Must(t, err)
			for _, spelling := range []string{
				p.secret, strings.Trim(string(quoted), `"`),
				strings.ReplaceAll(p.secret, `"`, `\"`),
			} {
				if at := strings.Index(all, spelling); at >= 0 {
					t.Errorf("the bundle holds %q: %s", spelling, all[max(0, at-200):at+len(spelling)])
				}
			}
			if b := open(t, rec.Dir+"/"+id); len(b.Steps()) < len(p.replies) {
				t.Errorf("%d steps are left", len(b.Steps()))
			}
		})
	}
}

func TestSecretsOfTheVaultAreRemoved(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir(), Clean: func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte("swordfish"), []byte("•"))
	}}
	check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{say("It is swordfish.")}}), "t1", "look"))
	check.Lacks(t, everything(t, rec.Dir), "swordfish")
	open(t, rec.Dir+"/t1")
}

func TestOrdinaryTextIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	want := "Cookies: we use them. The bearer of this. http://shop.test/a:b, mail ada@shop.test, sk-7, a light. " +
		"http://shop.test/?keyword=lamp&q=token&page=2#monkey=george x=y; postcode=90210"
	check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{say(want)}}), "t1", "look"))
	steps := open(t, rec.Dir+"/t1").Steps()
	check.Equal(t, "text", steps[len(steps)-1].Text, want)
}

// over is a backend that hands its task over when it has done it.
type over struct{ sessions.Backend }

func (b over) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		for step, err := range b.Backend.Run(ctx, s, t) {
			if !yield(step, err) {
				return
			}
		}
		yield(sessions.Step{}, &sessions.HandOverError{Runtime: "other", Summary: "the password is hunter2"})
	}
}

func TestPasswordStaysASecretWhenTheTaskIsHandedOver(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	typing := unframed(rec, &script{replies: []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`),
		use("browser_type", `{"ref":"e4","text":"hunter2"}`), say("typed"),
	}})
	check.Fails(t, work(t, rec.Backend("first", over{typing}), "t1", "log in"), nil, "handed over")
	check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{say("hunter2 it was")}}), "t1", "go on: hunter2"))
	check.Lacks(t, everything(t, rec.Dir), "hunter2")
}

// screenMind answers with one turn after the other.
type screenMind struct{ turns []computeruse.Turn }

func (m *screenMind) Name() string { return "test:screen" }

func (m *screenMind) Fit(p image.Point) image.Point { return p }

func (m *screenMind) Begin(computeruse.ConversationOptions) (computeruse.Conversation, error) {
	return m, nil
}

func (m *screenMind) Memory() (json.RawMessage, error) { return nil, nil }

func (m *screenMind) Next(context.Context, computeruse.Input) (computeruse.Turn, error) {
	t := m.turns[0]
	m.turns = m.turns[1:]
	return t, nil
}

// screenBackend asks a mind twice, and shows what it typed as steps.
type screenBackend struct {
	sessions.Backend

	talk   func() computeruse.Conversation
	labels []string
}

func (b screenBackend) Run(ctx context.Context, _ sessions.Session, _ sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		talk := b.talk()
		shot := &computeruse.Screenshot{Image: llm.Image{MediaType: "image/png", Data: screen}}
		for n := range 2 {
			if _, err := talk.Next(ctx, computeruse.Input{Says: []string{"log in"}, Shot: shot}); err != nil {
				yield(sessions.Step{}, err)
				return
			}
			for _, label := range b.labels {
				act := sessions.Step{N: n + 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "type", Label: label}
				if !yield(act, nil) {
					return
				}
				act.Phase = sessions.PhaseDone
				if !yield(act, nil) {
					return
				}
			}
		}
		yield(sessions.Step{N: 3, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Text: "done"}, nil)
	}
}

func TestTurnsOfAScreenAreRecordedWithoutPasswords(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	m := &screenMind{turns: []computeruse.Turn{
		{Calls: []computeruse.Call{
			{ID: "c1", Actions: []computeruse.Action{
				{Kind: computeruse.ActType, Text: "standing desk"},
				{Kind: computeruse.ActType, Text: "ada\thunter2"},
			}},
		}},
		{Text: "hunter2 it was"},
	}}
	b := rec.Backend("screen",
		screenBackend{
			labels: []string{`type "standing desk"`, `type "` + recording.RedactedText + `"`},
			talk: func() computeruse.Conversation {
				talk, err := rec.ComputerUseModel(m).Begin(computeruse.ConversationOptions{System: "work"})
				if err != nil {
					t.Error(err)
				}
				return talk
			},
		})
	check.Must(t, work(t, b, "t1", "log in"))
	check.Lacks(t, everything(t, rec.Dir), "hunter2")
	if all := everything(t, rec.Dir); strings.Count(all, "standing desk") < 2 {
		t.Errorf("what is no password is not in the bundle: %s", all)
	}
	turns := 0
	for _, e := range open(t, rec.Dir+"/t1").Entries {
		if e.Kind != recording.KindTurn {
			continue
		}
		turns++
		var in computeruse.Input
		check.Must(t, json.Unmarshal(e.Turn.Input, &in))
		if !strings.HasPrefix(in.Shot.Image.MediaType, "image/png;file=") {
			t.Errorf("the picture is %q", in.Shot.Image.MediaType)
		}
	}
	check.Equal(t, "turns", turns, 2)
}

func TestARecordThatCannotBeRedactedIsDeleted(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	m := &script{replies: []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`),
		use("browser_type", `{"ref":"e4","text":"hunter2"}`), say("done"),
	}}
	name := filepath.Join(rec.Dir, "t1", "run.jsonl")
	// a directory is in the way of a new file; what was written is still there under another name
	m.asked = sync.OnceFunc(func() {
		if err := errors.Join(os.Link(name, name+".old"), os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
			t.Error(err)
		}
	})
	check.Must(t, work(t, agent(rec, m), "t1", "log in with hunter2"))
	check.Lacks(t, everything(t, rec.Dir), "hunter2")
	if rec.Has("t1") {
		t.Error("there is a record")
	}
}

func TestARunWithImplausiblyLargeCallsIsRefused(t *testing.T) {
	t.Parallel()
	lines := `{"kind":"begin","begin":{"format":` + strconv.Itoa(recording.FormatVersion) + `}}
{"kind":"message","message":{"role":"user"}}
{"kind":"call","call":{"messages":[0` + strings.Repeat(",0", 1_000_000) + "]}}\n"
	check.Fails(t, check.Err(recording.ParseRecording([]byte(lines))), nil, "more than any run")
}
