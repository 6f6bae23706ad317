package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"clank/llm"
)

// SecretMask replaces a password in everything that is stored or shown to people.
const SecretMask = "••••"

const (
	minSecret         = 3 // characters; shorter texts are not masked: one-time codes are typed one character per box
	minSecretAnywhere = 6 // shorter secrets, and short words, are masked only where they stand alone
	minLongWord       = 8 // letters; words of at least this length are masked even within other words
)

// Secrets holds the texts typed into the password fields of a session, in memory only. The zero value is empty; a
// value is immutable.
type Secrets struct {
	words []string
	forms []secretForm // longest first, since one may contain another
}

// secretForm is a spelling of a secret.
type secretForm struct {
	text     string
	anywhere bool // also within words
}

// With returns s with typed added. added is false if all of them are known already or too short to be told apart from
// other text.
func (s Secrets) With(typed ...string) (_ Secrets, added bool) {
	all := Secrets{slices.Clip(s.words), slices.Clip(s.forms)}
	for _, word := range typed {
		short := utf8.RuneCountInString(word) < minSecret
		if short || strings.Trim(word, "•") == "" || slices.Contains(all.words, word) {
			continue
		}
		all.words, added = append(all.words, word), true
		quoted, _ := json.Marshal(word) // a string always marshals
		inHTML := string(quoted[1 : len(quoted)-1])
		for _, text := range []string{word, inHTML, plainJSON(word), url.QueryEscape(word), url.PathEscape(word)} {
			known := func(f secretForm) bool { return f.text == text }
			if !slices.ContainsFunc(all.forms, known) {
				all.forms = append(all.forms, secretForm{text, isDistinctive(word)})
			}
		}
	}
	slices.SortStableFunc(all.forms, func(a, b secretForm) int { return len(b.text) - len(a.text) })
	return all, added
}

// plainJSON returns s as a JSON string without HTML escaping.
func plainJSON(s string) string {
	quoted, _ := llm.MarshalJSON(s) // a string always marshals
	return string(quoted[1 : len(quoted)-1])
}

// isDistinctive reports whether a word is unlikely to occur within other words by chance.
func isDistinctive(word string) bool {
	n := utf8.RuneCountInString(word)
	plain := !strings.ContainsFunc(word, func(c rune) bool { return !unicode.IsLetter(c) })
	return n >= minLongWord || n >= minSecretAnywhere && !plain
}

// Mask replaces the secrets in a text.
func (s Secrets) Mask(text string) string {
	for _, f := range s.forms {
		text = f.mask(text)
	}
	return text
}

// maskURL replaces the secrets in a URL. Before the query it replaces only distinctive ones, so that the URL keeps
// its host.
func (s Secrets) maskURL(address string) string {
	end := len(address)
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		end = i
	}
	return s.maskDistinctive(address[:end]) + s.Mask(address[end:])
}

// maskDistinctive replaces only the secrets that are unlikely to match by chance.
func (s Secrets) maskDistinctive(text string) string {
	for _, f := range s.forms {
		if f.anywhere {
			text = f.mask(text)
		}
	}
	return text
}

// mask replaces f in text.
func (f secretForm) mask(text string) string {
	var b strings.Builder
	done := 0
	for at := 0; ; {
		i := strings.Index(text[at:], f.text)
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(f.text)
		at = end
		if !f.anywhere && !standsAlone(text, begin, end) {
			at = begin + 1
			continue
		}
		b.WriteString(text[done:begin] + SecretMask)
		done = end
	}
	return b.String() + text[done:]
}

// standsAlone reports whether no letter or digit touches text[begin:end]. The letter of an escape such as \n does not
// count.
func standsAlone(text string, begin, end int) bool {
	inWord := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	before, n := utf8.DecodeLastRuneInString(text[:begin])
	after, _ := utf8.DecodeRuneInString(text[end:])
	escape := strings.ContainsRune("nrt", before) && strings.HasSuffix(text[:begin-n], `\`)
	return (!inWord(before) || escape) && !inWord(after)
}

// structuralNames are members of stored backend memories that say how to parse them. They are not masked: a password
// that is a plain word must not make a memory unreadable.
var structuralNames = []string{"type", "role", "kind", "id", "name", "tool", "section"}

// MaskJSON replaces the secrets in the string values of a JSON text, but not in member names. It returns raw itself
// if there are none.
func (s Secrets) MaskJSON(raw json.RawMessage) json.RawMessage {
	if len(s.forms) == 0 {
		return raw
	}
	var out []byte
	done, name := 0, ""
	for at := 0; at < len(raw); {
		i := bytes.IndexByte(raw[at:], '"')
		if i < 0 {
			break
		}
		begin := at + i
		end := stringEnd(raw, begin)
		at = end
		var text string
		if json.Unmarshal(raw[begin:end], &text) != nil {
			continue
		}
		if rest := bytes.TrimLeft(raw[end:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			name = text
			continue
		}
		clean := s.Mask(text)
		if slices.Contains(structuralNames, name) {
			clean = s.maskDistinctive(text)
		}
		if clean == text {
			continue
		}
		out = append(append(append(out, raw[done:begin]...), '"'), plainJSON(clean)...)
		out, done = append(out, '"'), end
	}
	if out == nil {
		return raw
	}
	return append(out, raw[done:]...)
}

// stringEnd returns the index after the JSON string that begins at start.
func stringEnd(raw []byte, start int) int {
	for at := start + 1; at < len(raw); at++ {
		switch raw[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(raw)
}

// MaskSession returns a session without the secrets.
func (s Secrets) MaskSession(of Session) Session {
	of.Title, of.URL, of.Memory = s.Mask(of.Title), s.maskURL(of.URL), s.MaskJSON(of.Memory)
	if len(of.Others) > 0 && len(s.forms) > 0 {
		others := make(map[string]json.RawMessage, len(of.Others))
		for runtime, memory := range of.Others {
			others[runtime] = s.MaskJSON(memory)
		}
		of.Others = others
	}
	return of
}

// MaskTask returns a record without the secrets.
func (s Secrets) MaskTask(r TaskRecord) TaskRecord {
	r.Prompt, r.Answer, r.Reason = s.Mask(r.Prompt), s.Mask(r.Answer), s.Mask(r.Reason)
	r.Files, r.Downloads = s.maskFiles(r.Files), s.maskFiles(r.Downloads)
	r.Images = s.maskCaptions(r.Images)
	return r
}

// MaskStep returns a step without the secrets.
func (s Secrets) MaskStep(of Step) Step {
	of.Label, of.Text, of.Title, of.Limit = s.Mask(of.Label), s.Mask(of.Text), s.Mask(of.Title), s.Mask(of.Limit)
	of.URL, of.Input, of.Memory, of.Secrets = s.maskURL(of.URL), s.MaskJSON(of.Input), s.MaskJSON(of.Memory), nil
	of.Images = s.maskCaptions(of.Images)
	return of
}

// maskCaptions returns images without the secrets in their captions.
func (s Secrets) maskCaptions(images []llm.Image) []llm.Image {
	out := slices.Clone(images)
	for i := range out {
		out[i].Caption = s.Mask(out[i].Caption)
	}
	return out
}

// passwordPhrases match passwords in instructions, in group 1 or 2. Likely words do not match.
var passwordPhrases = sync.OnceValue(func() []*regexp.Regexp {
	const (
		word = `(?:pass(?:word|wort|phrase|code|wd)|pwd|kennwort|pin|contraseña|mot de passe|senha|wachtwoord|parola|` +
			`hasło|пароль|密码|パスワード)`
		into   = `\s+(?:in|into|as|for)\s+[^\n]{0,30}?`
		quoted = `["“„«'‘]([^"“”„«»'‘’\n]{4,})["”“»'’]`
	)
	return []*regexp.Regexp{
		regexp.MustCompile(`://[^/\s:@]+:([^/\s@]{3,})@`),
		regexp.MustCompile(`(?i)` + word + `\s*(?:is|ist|es|est|:|=|：)?\s*` + quoted),
		regexp.MustCompile(`(?i)` + word + `\s*[:=：]\s*([^\s"“„«'‘]{4,})`),
		regexp.MustCompile(`(?i)` + word + `\s+(?:is\s+|ist\s+|es\s+|est\s+)?()([^\s"“„«'‘]{4,})`),
		regexp.MustCompile(`(?i)(?:log|sign) ?in\s[^\n]{0,40}?(?:with|as)\s+\S+\s*[/:]\s*([^\s"“„«'‘]{4,})`),
		regexp.MustCompile(`(?i)(?:log|sign) ?in\s[^\n]{0,40}?(?:with|as)\s+\S+\s+and\s+()([^\s"“„«'‘]{4,})`),
		regexp.MustCompile(`(?i)(?:type|enter|write|fill|put)\s+` + quoted + into + word),
		regexp.MustCompile(`(?i)(?:type|enter|write|fill|put)\s+()([^\s"“„«'‘]{4,})` + into + word),
	}
})

// LikelySecrets returns the texts in an instruction that look like passwords, before they are typed anywhere. Plain
// words count only if they are quoted or follow a colon.
func LikelySecrets(prompt string) []string {
	var found []string
	for _, phrase := range passwordPhrases() {
		for _, m := range phrase.FindAllStringSubmatch(prompt, -1) {
			given := m[1]
			if given == "" && strings.ContainsAny(m[len(m)-1], "0123456789!#$%&*+=@^_~") {
				given = m[len(m)-1]
			}
			given = strings.TrimRight(given, ".,;:?)")
			if utf8.RuneCountInString(given) >= minSecret && !slices.Contains(found, given) {
				found = append(found, given)
			}
		}
	}
	return found
}

// MaskLikely returns an instruction without what looks like a password.
func MaskLikely(prompt string) string {
	secrets, _ := Secrets{}.With(LikelySecrets(prompt)...)
	return secrets.Mask(prompt)
}

// LikelyCodes returns those of [LikelySecrets] that are not plain words. They are masked in other texts, too; masking
// a word that was taken for a password by mistake would spoil these.
func LikelyCodes(prompt string) []string {
	sign := func(c rune) bool { return !unicode.IsLetter(c) && c != ' ' }
	return slices.DeleteFunc(LikelySecrets(prompt), func(word string) bool { return !strings.ContainsFunc(word, sign) })
}

// vaultHint tells a person, once per session, where passwords belong.
const vaultHint = "There was a password in what you asked for. It is taken out of what clank keeps and shows, " +
	"but the model read it. Next time keep it in the vault, where models can use but not read it: " +
	"`clank vault add NAME --origin URL --user NAME` on clank's machine, then ask to log in with NAME."

// maskPrompt returns a prompt for storage and display, without known and likely passwords.
func (m *Manager) maskPrompt(l *liveSession, prompt string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	secrets, _ := l.secrets.With(LikelySecrets(prompt)...)
	return secrets.Mask(prompt)
}

// hideSecrets learns the texts that a step typed into password fields and masks them in the step, in the record of j
// and in its session. fresh says that steps stored earlier may contain a new secret.
func (m *Manager) hideSecrets(j *queuedTask, step *Step) (fresh bool) {
	m.mu.Lock()
	l := j.live
	l.secrets, fresh = l.secrets.With(step.Secrets...)
	secrets := l.secrets
	told := l.vaultHintShown
	if fresh {
		l.Session = secrets.MaskSession(l.Session)
	}
	if step.Kind == StepAnswer && !told && secrets.Mask(j.prompt) != j.prompt {
		l.vaultHintShown = true
		step.Text += "\n\n" + j.rec.Origin.Locale.T(vaultHint)
	}
	m.mu.Unlock()
	if step.Kind == StepNotice { // it may quote a person
		j.likely = append(j.likely, LikelyCodes(step.Text)...)
	}
	secrets, _ = secrets.With(j.likely...)
	*step = secrets.MaskStep(*step)
	j.rec = secrets.MaskTask(j.rec)
	if fresh {
		j.handle.SetLabel(taskLabel(j.rec.Task))
	}
	return fresh
}

// redactStored masks the secrets of a session in what was stored before they were known.
func (m *Manager) redactStored(ctx context.Context, l *liveSession) error {
	m.mu.Lock()
	secrets := l.secrets
	m.mu.Unlock()
	return m.saveWith(ctx, l, func(ctx context.Context, s Session) error { return m.Store.Redact(ctx, s.ID, secrets) })
}
