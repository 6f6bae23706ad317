package speech_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/voice"
	"clank/voice/speech"

	"github.com/google/go-cmp/cmp"
)

func synthesizerForTest(t *testing.T, s *server, f speech.Format) *speech.Synthesizer {
	t.Helper()
	at := s.at()
	at.ModelSetting = "interaction.voice.speech.model"
	sp, err := speech.NewSynthesizer(speech.SynthesizerOptions{
		Server: at, Model: "gpt-4o-mini-tts", Voice: "alloy", Format: f, FormatSetting: "interaction.voice.speech.format",
	})
	check.Must(t, err)
	return sp
}

// collect returns all that is said, which must be in packets of 20 ms.
func collect(t *testing.T, sp *speech.Synthesizer, text string) (packets [][]byte, err error) {
	t.Helper()
	for p, err := range sp.Speak(t.Context(), text) {
		if err != nil {
			return packets, err
		}
		if s, err := voice.InspectOpus(p); err != nil || s.Duration() != voice.FrameTime {
			t.Fatalf("a packet of %v: %v", s.Duration(), err)
		}
		packets = append(packets, p)
	}
	return packets, nil
}

// ogg returns a file of packets.
func ogg(t *testing.T, packets [][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var all []voice.Packet
	for i, p := range packets {
		all = append(all, voice.Packet{Sequence: uint16(i), Timestamp: uint32(i * 960), Opus: p})
	}
	check.Must(t, voice.WriteOgg(&b, all))
	return b.Bytes()
}

func TestOpusIsPassedOnAsItCame(t *testing.T) {
	want := tone(t, 40)
	s := serve(t, reply(200, "audio/ogg", string(ogg(t, want))))
	got, err := collect(t, synthesizerForTest(t, s, ""), "The ferry leaves at nine.")
	check.Must(t, err)
	check.Diff(t, "packets", got, want)
	a := s.one(t)
	valid(t, "CreateSpeechRequest", a.fields)
	fields := map[string]any{
		"model": "gpt-4o-mini-tts", "input": "The ferry leaves at nine.", "voice": "alloy",
		"response_format": "opus",
	}
	if diff := cmp.Diff(fields, a.fields); diff != "" || a.path != "/v1/audio/speech" {
		t.Errorf("asked %s for (-want +got)\n%s", a.path, diff)
	}
}

func TestOpusOfAnotherLengthIsEncodedAnew(t *testing.T) {
	var long [][]byte // two packets in one, of 40 ms
	short := tone(t, 40)
	for i := 0; i+1 < len(short); i += 2 {
		p := []byte{short[i][0]&^3 | 2}
		if n := len(short[i]) - 1; n < 252 {
			p = append(p, byte(n))
		} else {
			t.Fatal("a packet is too long for the test")
		}
		long = append(long, append(append(p, short[i][1:]...), short[i+1][1:]...))
	}
	s := serve(t, reply(200, "audio/ogg", string(ogg(t, long))))
	got, err := collect(t, synthesizerForTest(t, s, speech.Opus), "Hello.")
	if err != nil || len(got) != 40 {
		t.Errorf("%d packets, %v; want 40", len(got), err)
	}
}

func TestSamplesAreEncoded(t *testing.T) {
	pcm := voice.AppendPCM(nil, wave(24000, 50))
	var wav bytes.Buffer
	check.Must(t, voice.WriteWAV(&wav, 22050, wave(22050, 50)))
	endless := bytes.Clone(wav.Bytes()) // as servers write it that do not know how long it will be
	binary.LittleEndian.PutUint32(endless[4:], 0xffffffff)
	binary.LittleEndian.PutUint32(endless[40:], 0xffffffff)
	for name, c := range map[string]struct {
		format speech.Format
		body   []byte
	}{"pcm": {speech.PCM, pcm}, "wav": {speech.WAV, wav.Bytes()}, "wav of no known length": {speech.WAV, endless}} {
		s := serve(t, reply(200, "application/octet-stream", string(c.body)))
		got, err := collect(t, synthesizerForTest(t, s, c.format), "Hello.")
		if err != nil || len(got) < 50 || len(got) > 51 {
			t.Errorf("%s: %d packets, %v; want a second of them", name, len(got), err)
		}
		valid(t, "CreateSpeechRequest", s.one(t).fields)
	}
}

func TestSpeechBeginsBeforeTheServerHasEnded(t *testing.T) {
	goOn := make(chan struct{})
	file := voice.AppendPCM(nil, wave(24000, 50))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(file[:len(file)/2+1]) // in the middle of a sample
		w.(http.Flusher).Flush()
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		_, _ = w.Write(file[len(file)/2+1:])
	})
	n := 0
	for _, err := range synthesizerForTest(t, s, speech.PCM).Speak(t.Context(), "Hello.") {
		check.Must(t, err)
		if n++; n == 10 {
			close(goOn)
		}
	}
	check.Equal(t, "packets", n, 50)
}

// stall answers with some sound and then nothing, until the request ends.
func stall(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write(voice.AppendPCM(nil, wave(24000, 10)))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func TestWhoStopsListeningEndsTheRequest(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		stall(w, r)
	})
	for _, err := range synthesizerForTest(t, s, speech.PCM).Speak(t.Context(), "Hello.") {
		check.Must(t, err)
		break
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the request goes on")
	}
}

func TestACancelledSpeechEndsWithItsCause(t *testing.T) {
	s := serve(t, stall)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stopped := errors.New("stopped by ada")
	var last error
	for _, err := range synthesizerForTest(t, s, speech.PCM).Speak(ctx, "Hello.") {
		cancel(stopped)
		last = err
	}
	check.Fails(t, last, stopped)
}

func TestWhatIsNoSoundIsTold(t *testing.T) {
	for _, c := range []struct {
		name       string
		status     int
		kind, body string
		want       llm.ErrorKind
	}{
		{"a refused key", 401, "application/json", `{"error":{"message":"no"}}`, llm.ErrAuth},
		{"no such voice", 400, "application/json", `{"error":{"message":"no such voice"}}`, llm.ErrRejected},
		{"a web page", 200, "text/html", "<html>", llm.ErrMalformed},
		{"an object", 200, "application/json", `{}`, llm.ErrMalformed},
		{"garbage", 200, "audio/ogg", "garbage", llm.ErrMalformed},
		{"nothing", 200, "audio/ogg", "", llm.ErrCutOff},
	} {
		s := serve(t, reply(c.status, c.kind, c.body))
		_, err := collect(t, synthesizerForTest(t, s, speech.Opus), "Hello.")
		if failure(t, err, c.want); s.times() != 1 {
			t.Errorf("%s: asked %d times", c.name, s.times())
		}
	}
}

func TestLongTextIsAskedForInPieces(t *testing.T) {
	s := serve(t, reply(200, "audio/ogg", string(ogg(t, tone(t, 5)))))
	got, err := collect(t, synthesizerForTest(t, s, speech.Opus), strings.Repeat("words ", 1000))
	if err != nil || len(got) != 10 || s.times() != 2 {
		t.Errorf("%d packets in %d requests, %v; want 10 in 2", len(got), s.times(), err)
	}
	for _, a := range s.asked {
		valid(t, "CreateSpeechRequest", a.fields)
	}
}

func TestAServerThatDoesNotMakeTheFormatNamesTheSetting(t *testing.T) {
	var wav bytes.Buffer
	check.Must(t, voice.WriteWAV(&wav, 22050, wave(22050, 5)))
	for name, c := range map[string]struct {
		format speech.Format
		status int
		body   string
	}{
		"MP3 for Opus":    {speech.Opus, 200, "ID3\x04\x00\x00\x00\x00\x00\x00" + strings.Repeat("x", 500)},
		"WAV for Opus":    {speech.Opus, 200, wav.String()},
		"WAV for samples": {speech.PCM, 200, wav.String()},
		"MP3 for WAV":     {speech.WAV, 200, "\xff\xfb\x90\x00" + strings.Repeat("x", 500)},
		"a word about it": {speech.Opus, 400, `{"error":{"message":"Unsupported response_format"}}`},
		"a list of errors": {
			speech.Opus, 422,
			`{"detail":[{"loc":["body","response_format"],"msg":"Input should be 'mp3' or 'wav'"}]}`,
		},
	} {
		s := serve(t, reply(c.status, "application/octet-stream", c.body))
		_, err := collect(t, synthesizerForTest(t, s, c.format), "Hello.")
		var told *llm.Error
		if !errors.As(err, &told) || !strings.Contains(told.Hint, "may not make "+string(c.format)) ||
			!strings.Contains(told.Hint, "interaction.voice.speech.format") {
			t.Errorf("%s: got %v, want the setting of the format", name, err)
		}
	}
}

func TestAModelThatIsGoneNamesItsSettingAndSuccessor(t *testing.T) {
	s := serve(t, reply(404, "application/json", `{"error":{"message":"The model does not exist"}}`))
	_, err := collect(t, synthesizerForTest(t, s, ""), "Hello.")
	if told := failure(t, err, llm.ErrNotFound); !strings.Contains(told.Hint, "interaction.voice.speech.model") ||
		!strings.Contains(told.Hint, "2027-01-06") {
		t.Errorf("hint = %q, want the setting and the day", told.Hint)
	}
}

func espeakForTest(t *testing.T, o speech.ESpeakOptions) *speech.ESpeak {
	t.Helper()
	s, err := speech.NewESpeak(o)
	if errors.Is(err, speech.ErrESpeakMissing) {
		check.Installed(t, "espeak-ng")
	}
	check.Must(t, err)
	return s
}

// script returns a program that stands in for espeak-ng.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "espeak-ng")
	check.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return path
}

// all returns how long the packets sound, how loud the loudest sample is, and the error at the end.
func all(t *testing.T, ctx context.Context, s *speech.ESpeak,
	text string,
) (length time.Duration, peak float64, err error) {
	t.Helper()
	d, err := voice.NewOpusDecoder(voice.RateSpeech)
	check.Must(t, err)
	for p, err := range s.Speak(ctx, text) {
		if err != nil {
			return length, peak, err
		}
		shape, err := voice.InspectOpus(p)
		if err != nil || shape.Duration() != voice.FrameTime {
			t.Fatalf("packet of %v: %v", shape.Duration(), err)
		}
		samples, err := d.Decode(p)
		check.Must(t, err)
		loud, _ := voice.Level(samples)
		peak = max(peak, loud)
		length += voice.FrameTime
	}
	return length, peak, nil
}

func TestTextIsSaid(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	short, peak, err := all(t, t.Context(), s, "Yes.")
	check.Must(t, err)
	if short < 200*time.Millisecond || short > 2*time.Second || peak == 0 {
		t.Errorf("%v of sound with a peak of %v, want a short word that can be heard", short, peak)
	}
	long, _, err := all(t, t.Context(), s, "The ferry leaves at twenty to ten, and again at noon.")
	if err != nil || long < 2*short {
		t.Errorf("a sentence took %v, a word %v (%v)", long, short, err)
	}
	if length, _, err := all(t, t.Context(), s, " \n"); length != 0 || err != nil {
		t.Errorf("nothing to say: %v, %v; want nothing", length, err)
	}
	if length, _, err := all(t, t.Context(), s, "--version"); err != nil || length == 0 {
		t.Errorf("text that looks like an option: %v, %v; want it said", length, err)
	}
}

func TestBadESpeakOptionsAreRefused(t *testing.T) {
	for _, o := range []speech.ESpeakOptions{{Voice: "-w"}, {Voice: "../en"}, {Voice: "en us"}} {
		if _, err := speech.NewESpeak(o); err == nil || errors.Is(err, speech.ErrESpeakMissing) {
			t.Errorf("New(%+v) = %v, want it refused", o, err)
		}
	}
	check.Fails(t, check.Err(speech.NewESpeak(speech.ESpeakOptions{Program: "no-such-program"})), speech.ErrESpeakMissing,
		"install the package espeak-ng")
}

func TestWhatESpeakCannotSayIsTold(t *testing.T) {
	for want, o := range map[string]speech.ESpeakOptions{
		"espeak-ng": {Voice: "zz-nobody"},
		"too long":  {Program: script(t, "exec sleep 60"), Timeout: 50 * time.Millisecond},
		"":          {Program: script(t, "exec cat")}, // copies the text; no WAV
	} {
		if _, _, err := all(t, t.Context(), espeakForTest(t, o), "Hello."); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%+v: err = %v, want %q", o, err, want)
		}
	}
}

func TestCancelledESpeakEndsWithItsCause(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{Program: script(t, "exec sleep 60")})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by ada")
	go cancel(stopped)
	if _, _, err := all(t, ctx, s, "Hello."); !errors.Is(err, stopped) {
		t.Errorf("err = %v, want the cause", err)
	}
}

func TestWhoStopsListeningEndsTheProgram(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	n := 0
	for _, err := range s.Speak(t.Context(), strings.Repeat("A long text that nobody wants to hear. ", 100)) {
		check.Must(t, err)
		n++
		if n == 3 {
			break
		}
	}
	check.Equal(t, "packets", n, 3)
}

func TestTextCannotSteerTheProgram(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	want, _, err := all(t, t.Context(), s, "nine hundred lamps are in the shop")
	check.Must(t, err)
	for _, text := range []string{
		"nine hundred \x01900S lamps are in the shop", "nine hundred lamps \x000A are in the shop",
		"nine hundred \x010A lamps are in the shop",
	} {
		got, peak, err := all(t, t.Context(), s, text)
		if err != nil || got < want || peak < 0.01 {
			t.Errorf("%q sounds for %v, peak %.3f (%v), want at least the %v of its words", text, got, peak, err, want)
		}
	}
}
