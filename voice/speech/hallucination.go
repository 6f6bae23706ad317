package speech

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// transcription is what a server says that it heard.
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
	remarkPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪[^♪]*♪?)$`) })
)

// acceptedText returns what was said, or "" where the model is not sure of any of it, gives marks instead of
// words, or repeats its prompt.
func (a transcription) acceptedText(prompt string) string {
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
	if prompt != "" && strings.EqualFold(lettersOnly(text), lettersOnly(prompt)) {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// lettersOnly returns s without anything that is not part of a word.
func lettersOnly(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !isWord(r) }), " ")
}
