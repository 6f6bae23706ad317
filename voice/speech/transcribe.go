package speech

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/llm/transport"
	"clank/voice"
)

// Limits of one transcription.
const (
	transcribeTimeout = 20 * time.Second
	maxAnswer         = 1 << 20 // bytes
	maxSilence        = 2 * time.Second
)

// TranscriberOptions are the server, model and language that turn speech into text.
type TranscriberOptions struct {
	Server   RemoteServer
	Model    string   // as the server calls it
	Language string   // ISO 639-1; empty lets the model detect it
	Keywords []string // for models that support them; otherwise part of the prompt
	WAV      bool     // send 16 kHz mono WAV; for servers that cannot read Ogg
}

// Transcriber is a [voice.Transcriber], safe for concurrent use.
type Transcriber struct {
	o    TranscriberOptions
	call *apiCaller
}

var _ voice.Transcriber = (*Transcriber)(nil)

// NewTranscriber checks o and returns a transcriber. It sends no request yet.
func NewTranscriber(o TranscriberOptions) (*Transcriber, error) {
	c, err := newAPICaller(o.Server, "audio/transcriptions", "transcription API", o.Model, transcribeTimeout)
	if err != nil {
		return nil, fmt.Errorf("set up transcription: %w", err)
	}
	return &Transcriber{o: o, call: c}, nil
}

// Transcribe implements [voice.Transcriber]. An utterance that is not loud is empty without being sent, and so is what
// models invent where nothing was said. Errors are of [llm.Error], or the cause of ctx.
func (t *Transcriber) Transcribe(ctx context.Context, u voice.Utterance) (voice.Transcript, error) {
	if !u.Loud || len(u.Packets) == 0 {
		return voice.Transcript{}, nil
	}
	kind, body, err := t.requestForm(u)
	if err != nil {
		return voice.Transcript{}, fmt.Errorf("transcribe: %w", err)
	}
	said, err := transport.CallWithRetry(ctx, t.call.patience, t.call.explain,
		func(ctx context.Context) (transcription, error) {
			return t.transcribeOnce(ctx, kind, body)
		})
	if err != nil {
		return voice.Transcript{}, fmt.Errorf("transcribe: %w", err)
	}
	text := said.acceptedText()
	if text == "" {
		return voice.Transcript{}, nil
	}
	language := t.o.Language
	if language == "" && languageTagPattern().MatchString(said.Language) {
		language = said.Language
	}
	return voice.Transcript{Text: text, Language: language}, nil
}

var languageTagPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
})

func (t *Transcriber) transcribeOnce(ctx context.Context, kind string, body []byte) (transcription, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, _, done, err := t.call.send(ctx, cancel, kind, body)
	if err != nil {
		return transcription{}, err
	}
	defer done()
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		if ctx.Err() != nil {
			return transcription{}, context.Cause(ctx)
		}
		return transcription{}, &transport.TruncatedError{Err: err}
	}
	return readTranscription(raw)
}

// readTranscription reads the JSON of a transcription, simple or verbose.
func readTranscription(raw []byte) (transcription, error) {
	var a struct {
		transcription

		Text *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return transcription{}, &transport.MalformedError{Err: fmt.Errorf("the transcription is no JSON: %w", err)}
	}
	if a.Text == nil {
		return transcription{}, &transport.MalformedError{Err: errors.New("the transcription has no text")}
	}
	a.transcription.Text = *a.Text
	return a.transcription, nil
}

func (t *Transcriber) requestForm(u voice.Utterance) (kind string, body []byte, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	name, media := "utterance.ogg", "audio/ogg"
	if t.o.WAV {
		name, media = "utterance.wav", "audio/wav"
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}, "Content-Type": {media},
	})
	if err != nil {
		return "", nil, err
	}
	if t.o.WAV {
		err = writeWAV(part, u.Packets)
	} else {
		err = voice.WriteOgg(part, u.Packets)
	}
	if err != nil {
		return "", nil, err
	}
	for _, f := range t.fields() {
		if err := form.WriteField(f[0], f[1]); err != nil {
			return "", nil, err
		}
	}
	if err := form.Close(); err != nil {
		return "", nil, err
	}
	return form.FormDataContentType(), b.Bytes(), nil
}

// fields returns the form fields besides the file. Only Whisper's models give the verbose form; the others give
// probabilities on request.
func (t *Transcriber) fields() [][2]string {
	fields := [][2]string{{"model", t.o.Model}}
	switch {
	case strings.Contains(t.o.Model, "whisper"):
		fields = append(fields, [2]string{"response_format", "verbose_json"})
	case strings.HasPrefix(t.o.Model, "gpt-4o") && !strings.HasSuffix(t.o.Model, "diarize"):
		fields = append(fields, [2]string{"response_format", "json"}, [2]string{"include[]", "logprobs"})
	default:
		fields = append(fields, [2]string{"response_format", "json"})
	}
	if t.o.Model == "gpt-transcribe" {
		for _, k := range t.o.Keywords {
			fields = append(fields, [2]string{"keywords[]", k})
		}
	} else if len(t.o.Keywords) > 0 {
		fields = append(fields, [2]string{"prompt", strings.Join(t.o.Keywords, ", ")})
	}
	if t.o.Language != "" {
		fields = append(fields, [2]string{"language", t.o.Language})
	}
	return fields
}

// writeWAV decodes an utterance. Losses between packets become silence of at most two seconds.
func writeWAV(w io.Writer, packets []voice.Packet) error {
	decoder, err := voice.NewOpusDecoder(voice.RateSpeech)
	if err != nil {
		return err
	}
	var samples []int16
	next := packets[0].Timestamp
	for _, p := range packets {
		if gap := int32(p.Timestamp - next); gap > 0 { //nolint:gosec // timestamps go round
			missing := min(time.Duration(gap)*time.Second/voice.RateOpus, maxSilence)
			samples = append(samples, make([]int16, missing*voice.RateSpeech/time.Second)...)
		}
		got, err := decoder.Decode(p.Opus)
		if err != nil {
			return fmt.Errorf("decode what was said: %w", err)
		}
		samples = append(samples, got...)
		next = p.Timestamp + uint32(len(got)*(voice.RateOpus/voice.RateSpeech)) //nolint:gosec // a packet is short
	}
	return voice.WriteWAV(w, voice.RateSpeech, samples)
}

func bodyReader(b []byte) io.Reader {
	if b == nil {
		return http.NoBody
	}
	return bytes.NewReader(b)
}

// transcription is the response of a server.
type transcription struct {
	Text     string `json:"-"`
	Language string `json:"language"`
	Logprobs []struct {
		Logprob float64 `json:"logprob"`
	} `json:"logprobs"`
	Segments []transcriptionSegment `json:"segments"`
}

// transcriptionSegment is a segment of the verbose form.
type transcriptionSegment struct {
	Text     string  `json:"text"`
	Logprob  float64 `json:"avg_logprob"`
	NoSpeech float64 `json:"no_speech_prob"`
}

const (
	minLogprob  = -1.0 // a mean below it is invented
	maxNoSpeech = 0.6
)

var (
	controlTokenPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<\|[^|>]*\|>`) })
	// remarkPattern is a whole text in brackets: [BLANK_AUDIO], (music), *laughs*.
	remarkPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪[^♪]*♪?)$`)
	})
)

// acceptedText returns the text, or "" if the model is not sure of any of it or returned only markers.
func (a transcription) acceptedText() string {
	text := a.Text
	if len(a.Segments) > 0 {
		var sure strings.Builder
		for _, s := range a.Segments {
			if s.Logprob >= minLogprob && s.NoSpeech <= maxNoSpeech {
				sure.WriteString(s.Text)
			}
		}
		text = sure.String()
	}
	if len(a.Logprobs) > 0 {
		sum := 0.0
		for _, l := range a.Logprobs {
			sum += l.Logprob
		}
		if sum/float64(len(a.Logprobs)) < minLogprob {
			return ""
		}
	}
	text = strings.TrimSpace(controlTokenPattern().ReplaceAllString(text, " "))
	if remarkPattern().MatchString(text) || !strings.ContainsFunc(text, isWord) {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
