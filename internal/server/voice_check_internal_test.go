package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/voice"
)

// soundServer speaks and understands as OpenAI's does, but what it always says is in its fields.
type soundServer struct {
	status int    // of refusals; 0: there are none
	heard  string // what it understands
	mute   bool   // what it speaks has no sound
}

func (s soundServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided"}}`)
	case strings.HasSuffix(r.URL.Path, "/audio/transcriptions"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"text":"`+s.heard+`"}`)
	default:
		w.Header().Set("Content-Type", "audio/pcm")
		if !s.mute {
			_, _ = w.Write(make([]byte, 2*voice.RateRealtime))
		}
	}
}

// checkVoice returns what the check says of a sound server, by part.
func checkVoice(t *testing.T, s soundServer, change func(*settings.Voice)) map[string]api.VoiceCheck {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	all := settings.Defaults()
	v := &all.Voice
	v.Speech.Engine, v.Speech.URL, v.Speech.Format = settings.SpeechServer, srv.URL+"/v1", "pcm"
	v.Transcription.URL = srv.URL + "/v1"
	if change != nil {
		change(v)
	}
	x := &CallService{
		Settings: fixedSettings{&all},
		Getenv:   noEnv,
		Logger:   slog.New(slog.DiscardHandler),
	}
	found := map[string]api.VoiceCheck{}
	for _, c := range x.CheckVoice(t.Context()) {
		found[c.Name] = c
	}
	return found
}

func TestTheVoiceCheckTestsTheConfiguredServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server soundServer
		change func(*settings.Voice)
		part   string
		ok     bool
		want   []string
	}{
		"spoken":     {soundServer{heard: "Hello, test."}, nil, "Speech", true, []string{"1.0 s of sound"}},
		"understood": {soundServer{heard: "Hello, test."}, nil, "Understanding", true, []string{"“Hello, test.”"}},
		"misunderstood": {
			soundServer{heard: "Bon jour"}, nil, "Understanding", false, []string{"“Bon jour”", "another model or language"},
		},
		"a refused key": {
			soundServer{status: http.StatusUnauthorized},
			nil, "Speech", false,
			[]string{"Key", "SPEECH_API_KEY"},
		},
		"a refused key to understand": {
			soundServer{status: http.StatusUnauthorized}, nil, "Understanding", false, []string{"TRANSCRIPTION_API_KEY"},
		},
		"silence": {soundServer{mute: true, heard: "hello"}, nil, "Speech", false, []string{"nothing"}},
		"nothing listens": {
			soundServer{},
			func(v *settings.Voice) { v.Transcription.URL = "http://127.0.0.1:1/v1" }, "Understanding", false,
			[]string{"127.0.0.1:1"},
		},
		"no key to understand": {
			soundServer{},
			func(v *settings.Voice) { v.Transcription.URL = "" }, "Understanding", false,
			[]string{"OPENAI_API_KEY"},
		},
		"no key to speak": {
			soundServer{heard: "test"},
			func(v *settings.Voice) { v.Speech.URL = "" }, "Speech", false,
			[]string{"SPEECH_API_KEY"},
		},
		"speech is off": {
			soundServer{heard: "test"},
			func(v *settings.Voice) { v.Speech.Engine = settings.SpeechOff }, "Speech", true,
			[]string{"written"},
		},
		"calls are off": {
			soundServer{},
			func(v *settings.Voice) { v.Enabled = false }, "Calls", false,
			[]string{"switch them on"},
		},
		"no key of a realtime model": {
			soundServer{},
			func(v *settings.Voice) { v.Engine = settings.VoiceEngineRealtime }, "Realtime model", false,
			[]string{"OPENAI_API_KEY"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := checkVoice(t, c.server, c.change)[c.part]
			if got.OK != c.ok {
				t.Errorf("%+v, want %v", got, c.ok)
			}
			check.Contains(t, strings.ToLower(got.Text), lower(c.want)...)
		})
	}
}

func lower(words []string) (out []string) {
	for _, w := range words {
		out = append(out, strings.ToLower(w))
	}
	return out
}

func TestTheCheckOfVoiceAsksTheRealtimeModel(t *testing.T) {
	t.Parallel()
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Expect("conversation.item.create")
		c.Expect("response.create")
		c.Begin("resp_1", "item_2")
		c.OutputAudio("resp_1", "item_2", make([]byte, 4800))
		c.OutputTranscript("resp_1", "item_2", "Ready.")
		c.Done("resp_1", "item_2", "completed")
		c.AwaitClose()
	}})
	got := checkVoice(t, soundServer{}, func(v *settings.Voice) {
		v.Engine, v.Realtime.URL = settings.VoiceEngineRealtime, srv.URL()
	})["Realtime model"]
	if !got.OK || !strings.Contains(got.Text, " answered within") {
		t.Errorf("one that answers: %+v", got)
	}
	refusing := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Status: http.StatusUnauthorized})
	got = checkVoice(t, soundServer{}, func(v *settings.Voice) {
		v.Engine, v.Realtime.URL = settings.VoiceEngineRealtime, refusing.URL()
	})["Realtime model"]
	if got.OK || !strings.Contains(got.Text, "key") {
		t.Errorf("one that refuses: %+v", got)
	}
}
