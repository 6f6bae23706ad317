package speech_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/voice"
	"clank/voice/speech"
)

func transcriber(t *testing.T, s *server, change func(*speech.TranscriberOptions)) *speech.Transcriber {
	t.Helper()
	o := speech.TranscriberOptions{Server: s.at(), Model: "gpt-4o-mini-transcribe"}
	if change != nil {
		change(&o)
	}
	tr, err := speech.NewTranscriber(o)
	check.Must(t, err)
	return tr
}

func TestSpeechIsSentAsOggWithoutEncodingItAgain(t *testing.T) {
	s := serve(t, reply(200, "application/json", `{"text":" look up the ferry times "}`))
	u := utterance(t)
	got, err := transcriber(t, s, func(o *speech.TranscriberOptions) {
		o.Language, o.Keywords = "en", []string{"clank"}
	}).Transcribe(t.Context(), u)
	check.Must(t, err)
	check.Equal(t, "transcribe", got, voice.Transcript{Text: "look up the ferry times", Language: "en"})
	a := s.one(t)
	valid(t, "CreateTranscriptionRequest", a.fields)
	want := map[string]any{
		"file": "bytes", "model": "gpt-4o-mini-transcribe", "response_format": "json", "include": []any{"logprobs"},
		"language": "en", "prompt": "clank",
	}
	check.Diff(t, "fields", a.fields, want)
	if a.path != "/v1/audio/transcriptions" || a.auth != "Bearer "+testKey || a.name != "utterance.ogg" ||
		a.kind != "audio/ogg" {
		t.Errorf("asked %s with %s for %s of %s", a.path, a.auth, a.name, a.kind)
	}
	r, err := voice.NewOggReader(bytes.NewReader(a.file))
	check.Must(t, err)
	n := 0
	for p, err := r.Next(); err == nil; p, err = r.Next() {
		if bytes.Equal(p, u.Packets[min(n, len(u.Packets)-1)].Opus) {
			n++
		}
	}
	check.Equal(t, "packets in order", n, len(u.Packets))
}

func TestSpeechIsSentAsWAVWhereThatIsSet(t *testing.T) {
	s := serve(t, reply(200, "application/json", `{"text":"hello"}`))
	if _, err := transcriber(t, s, func(o *speech.TranscriberOptions) { o.WAV = true }).Transcribe(t.Context(),
		utterance(t)); err != nil {
		t.Fatal(err)
	}
	a := s.one(t)
	r, err := voice.NewWAVReader(bytes.NewReader(a.file))
	check.Must(t, err)
	samples, err := r.Read(10 * voice.RateSpeech)
	check.Must(t, err)
	if r.Rate != voice.RateSpeech || len(samples) != voice.RateSpeech*3/2 || a.name != "utterance.wav" {
		t.Errorf("%s has %d samples at %d Hz, want 1.5 s at 16 kHz", a.name, len(samples), r.Rate)
	}
}

func TestWhatAModelTakesDependsOnIt(t *testing.T) {
	for model, want := range map[string]map[string]any{
		"whisper-1":                 {"response_format": "verbose_json", "prompt": "Lisbon, ferry"},
		"gpt-transcribe":            {"response_format": "json", "keywords": []any{"Lisbon", "ferry"}},
		"gpt-4o-transcribe":         {"response_format": "json", "prompt": "Lisbon, ferry", "include": []any{"logprobs"}},
		"gpt-4o-transcribe-diarize": {"response_format": "json", "prompt": "Lisbon, ferry"},
	} {
		s := serve(t, reply(200, "application/json", `{"text":"hello"}`))
		tr := transcriber(t, s, func(o *speech.TranscriberOptions) {
			o.Model, o.Keywords = model, []string{"Lisbon", "ferry"}
		})
		check.Must(t, check.Err(tr.Transcribe(t.Context(), utterance(t))))
		got := s.one(t).fields
		valid(t, "CreateTranscriptionRequest", got)
		want["file"], want["model"] = "bytes", model
		check.Diff(t, model, got, want)
	}
}

func TestWhatWasNotSaidIsDropped(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"words", `{"text":"Stop it!"}`, "Stop it!"},
		{"nothing", `{"text":""}`, ""},
		{"punctuation", `{"text":" ... !"}`, ""},
		{"control tokens", `{"text":"<|startoftranscript|><|en|> hello <|endoftext|>"}`, "hello"},
		{"only control tokens", `{"text":"<|nospeech|>"}`, ""},
		{"a remark", `{"text":"[BLANK_AUDIO]"}`, ""},
		{"another remark", `{"text":"(upbeat music)"}`, ""},
		{"a remark beside words", `{"text":"(laughs) hello"}`, "(laughs) hello"},
		{
			"words that the model does not believe",
			`{"text":"Thank you.","logprobs":[{"token":"Thank","logprob":-2.5},{"token":" you","logprob":-0.4}]}`, "",
		},
		{"words that it does", `{"text":"Thank you.","logprobs":[{"token":"Thank","logprob":-0.5},{"token":" you","logprob":-0.1}]}`, "Thank you."},
		{"segments", `{"text":"a b c","segments":[{"text":" yes","avg_logprob":-0.2,"no_speech_prob":0.1},` +
			`{"text":" Thanks for watching!","avg_logprob":-0.5,"no_speech_prob":0.9},{"text":" hm","avg_logprob":-1.4,"no_speech_prob":0.1}]}`, "yes"},
		{"another script", `{"text":"止まれ"}`, "止まれ"},
	} {
		s := serve(t, reply(200, "application/json", c.answer))
		got, err := transcriber(t, s, nil).Transcribe(t.Context(), utterance(t))
		if err != nil || got.Text != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got.Text, err, c.want)
		}
	}
}

func TestSilenceIsNotSent(t *testing.T) {
	s := serve(t, reply(200, "application/json", `{"text":"Thank you."}`))
	quiet := utterance(t)
	quiet.Loud = false
	for _, u := range []voice.Utterance{{}, {Loud: true}, quiet} {
		if got, err := transcriber(t, s, nil).Transcribe(t.Context(), u); err != nil || got.Text != "" {
			t.Errorf("got %+v, %v; want nothing", got, err)
		}
	}
	if n := s.times(); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestFailuresTellTheWayOut(t *testing.T) {
	for _, c := range []struct {
		status     int
		kind, body string
		want       llm.ErrorKind
		hint       string
	}{
		{
			401, "application/json", `{"error":{"message":"Incorrect API key provided: ` + testKey + `"}}`, llm.ErrAuth,
			"OPENAI_API_KEY",
		},
		{404, "application/json", `{"error":{"message":"The model does not exist"}}`, llm.ErrNotFound, "check the name"},
		{404, "text/plain", `page not found`, llm.ErrNotFound, "address"},
		{
			413, "application/json", `{"error":{"message":"Maximum content size limit exceeded"}}`, llm.ErrRejected,
			"shorter pieces",
		},
		{429, "application/json", `{"error":{"message":"slow down"}}`, llm.ErrRateLimited, "wait"},
		{503, "application/json", `{"error":{"message":"overloaded"}}`, llm.ErrUnavailable, "server's side"},
		{200, "text/html", `<html>`, llm.ErrMalformed, "address"},
		{200, "application/json", `{"text":`, llm.ErrMalformed, "transcription API"},
		{200, "application/json", `{"words":1}`, llm.ErrMalformed, "transcription API"},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3600") // longer than anybody waits
			reply(c.status, c.kind, c.body)(w, r)
		})
		_, err := transcriber(t, s, nil).Transcribe(t.Context(), utterance(t))
		told := failure(t, err, c.want)
		if !strings.Contains(told.Hint, c.hint) {
			t.Errorf("%d %s: hint %q, want it to have %q", c.status, c.body, told.Hint, c.hint)
		}
		if strings.Contains(err.Error(), testKey) {
			t.Errorf("%d: the key is in %q", c.status, err)
		}
	}
}

func TestATranscriptionEndsWithItsContextAndItsDeadline(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by ada")
	go cancel(stopped)
	check.Fails(t, check.Err(transcriber(t, s, nil).Transcribe(ctx, utterance(t))), stopped)
	tr := transcriber(t, s, func(o *speech.TranscriberOptions) { o.Server.Timeout = 50 * time.Millisecond })
	_, err := tr.Transcribe(t.Context(), utterance(t))
	failure(t, err, llm.ErrTimeout)
}

func TestBadRemoteOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]speech.TranscriberOptions{
		"the model is not set": {}, "must be http:// ": {Model: "m", Server: speech.RemoteServer{BaseURL: "ftp://x"}},
	} {
		check.Fails(t, check.Err(speech.NewTranscriber(o)), nil, want)
	}
	for want, o := range map[string]speech.SynthesizerOptions{
		"the voice is not set": {Model: "m"}, `the format "mp3"`: {Model: "m", Voice: "v", Format: "mp3"},
	} {
		check.Fails(t, check.Err(speech.NewSynthesizer(o)), nil, want)
	}
}

const testKey = "sk-test-0123456789abcdef"

// asked is a request as the server got it.
type asked struct {
	path, auth string
	fields     map[string]any // of the form or the JSON
	file       []byte
	name, kind string
}

// server answers with answer, and keeps what it was asked.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	asked []asked
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{path: r.URL.Path, auth: r.Header.Get("Authorization"), fields: map[string]any{}}
		if err := a.read(r); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, a)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (a *asked) read(r *http.Request) error {
	if r.Header.Get("Content-Type") == "application/json" {
		return json.NewDecoder(r.Body).Decode(&a.fields)
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		return err
	}
	for k, v := range r.MultipartForm.Value {
		if list, ok := bytes.CutSuffix([]byte(k), []byte("[]")); ok {
			all := []any{}
			for _, x := range v {
				all = append(all, x)
			}
			a.fields[string(list)] = all
			continue
		}
		a.fields[k] = v[0]
	}
	f, h, err := r.FormFile("file")
	if err != nil {
		return err
	}
	defer f.Close()
	a.name, a.kind = h.Filename, h.Header.Get("Content-Type")
	a.fields["file"] = "bytes"
	a.file, err = io.ReadAll(f)
	return err
}

// one returns the only request so far.
func (s *server) one(t *testing.T) asked {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) != 1 {
		t.Fatalf("%d requests, want 1", len(s.asked))
	}
	return s.asked[0]
}

func (s *server) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *server) at() speech.RemoteServer {
	return speech.RemoteServer{BaseURL: s.URL + "/v1", Key: testKey, Timeout: 20 * time.Second}
}

// reply answers with a status and a body.
func reply(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// tone returns n packets, up to 50, of a sound that can be heard.
func tone(t *testing.T, n int) [][]byte {
	t.Helper()
	packets, err := encoded()
	check.Must(t, err)
	return packets[:n]
}

// encoded is a second of sound, made once.
var encoded = sync.OnceValues(func() ([][]byte, error) {
	p, err := voice.NewOpusPacker(voice.RateSpeech)
	if err != nil {
		return nil, err
	}
	return p.Write(wave(voice.RateSpeech, 50))
})

// wave returns n times 20 ms of 300 Hz.
func wave(rate, n int) []int16 {
	samples := make([]int16, n*rate/50)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(2*math.Pi*300*float64(i)/float64(rate)))
	}
	return samples
}

// utterance returns a second of sound with a pause of half a second in it.
func utterance(t *testing.T) voice.Utterance {
	t.Helper()
	u := voice.Utterance{From: "ada", Loud: true}
	for i, opus := range tone(t, 50) {
		at := uint32(i * 960)
		if i >= 25 {
			at += voice.RateOpus / 2
		}
		u.Packets = append(u.Packets, voice.Packet{From: "ada", Sequence: uint16(i), Timestamp: at, Opus: opus})
	}
	return u
}

// failure returns what a person is told of err.
func failure(t *testing.T, err error, kind llm.ErrorKind) *llm.Error {
	t.Helper()
	var told *llm.Error
	if !errors.As(err, &told) {
		t.Fatalf("err = %v, want an *llm.Error of kind %s", err, kind)
	}
	if told.Kind != kind {
		t.Errorf("kind = %s, want %s (%v)", told.Kind, kind, err)
	}
	return told
}

// valid judges a request by the vendor's published schema, where there is one.
func valid(t *testing.T, component string, fields map[string]any) {
	t.Helper()
	b, err := json.Marshal(fields)
	check.Must(t, err)
	if err := llmtest.CheckSchema(component, b); err != nil {
		t.Errorf("%s is no %s: %v", b, component, err)
	}
}
