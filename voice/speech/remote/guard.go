package remote

import (
	"regexp"
	"strings"
	"unicode"
)

// answer is what a server says that it heard.
type answer struct {
	Text     string `json:"-"`
	Language string `json:"language"`
	Logprobs []struct {
		Logprob float64 `json:"logprob"`
	} `json:"logprobs"`
	Segments []part `json:"segments"`
}

// part is a segment of the verbose form.
type part struct {
	Text     string  `json:"text"`
	Logprob  float64 `json:"avg_logprob"`
	NoSpeech float64 `json:"no_speech_prob"`
}

const (
	leastLogprob = -1.0 // a mean below it is invented
	mostNoSpeech = 0.6
)

var (
	controlToken = regexp.MustCompile(`<\|[^|>]*\|>`)
	// remark is a whole text in brackets: [BLANK_AUDIO], (music), *laughs*.
	remark = regexp.MustCompile(`^(\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪[^♪]*♪?)$`)
)

// words is what was said, or nothing: where the model is not sure of any of it, gives marks instead of words, or repeats
// the prompt that it was given.
func (a answer) words(prompt string) string {
	text := a.Text
	if len(a.Segments) > 0 {
		var sure strings.Builder
		for _, s := range a.Segments {
			if s.Logprob >= leastLogprob && s.NoSpeech <= mostNoSpeech {
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
		if sum/float64(len(a.Logprobs)) < leastLogprob {
			return ""
		}
	}
	text = strings.TrimSpace(controlToken.ReplaceAllString(text, " "))
	if remark.MatchString(text) || !strings.ContainsFunc(text, isWord) {
		return ""
	}
	if prompt != "" && strings.EqualFold(letters(text), letters(prompt)) {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// letters is s without what is not of a word.
func letters(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !isWord(r) }), " ")
}
