package speech_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/voice"
	"clank/voice/speech"
)

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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.CheckSchema(component, b); err != nil {
		t.Errorf("%s is no %s: %v", b, component, err)
	}
}
