package vault

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Scrubber replaces known secrets in texts. The zero value knows none. It is safe for concurrent use.
type Scrubber struct {
	known atomic.Pointer[secretReplacer] // nil if no secret is known

	mu     sync.Mutex
	values []namedSecret
}

// namedSecret is a secret with its name. A secret may have several names.
type namedSecret struct{ name, value string }

// secretReplacer replaces the current secrets. It is immutable.
type secretReplacer struct {
	replacer *strings.Replacer
	long     *strings.Replacer // only spellings long enough not to occur in images by chance
	shortest int               // length of the shortest text that may contain a secret, in bytes
	raw      []namedSecret
	folded   []namedSecret // see [foldText]
}

// maxCodes is the number of one-time codes that are remembered; older ones have expired.
const maxCodes = 8

// Add adds a secret. The last few secrets of each name are remembered.
func (s *Scrubber) Add(name, value string) {
	if utf8.RuneCountInString(value) < MinSecretLength {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.values, namedSecret{name, value}) {
		return
	}
	s.values = append(s.values, namedSecret{name, value})
	same := 0
	for i, v := range slices.Backward(s.values) {
		if v.name == name {
			if same++; same > maxCodes {
				s.values = slices.Delete(s.values, i, i+1)
				break
			}
		}
	}
	k := &secretReplacer{raw: slices.Clone(s.values), shortest: minCutTail}
	spelled := map[string]string{}
	for _, v := range s.values {
		k.folded = append(k.folded, foldedSpellings(v)...)
		for _, p := range spellings(v.value) {
			if _, taken := spelled[p]; !taken {
				spelled[p] = "[secret " + v.name + "]"
			}
			k.shortest = min(k.shortest, len(p))
		}
	}
	// Longest first, so that a secret wins over its prefixes.
	var pairs, long []string
	longestFirst := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, p := range slices.SortedFunc(maps.Keys(spelled), longestFirst) {
		pairs = append(pairs, p, spelled[p])
		if len(p) >= minInPicture {
			long = append(long, p, spelled[p])
		}
	}
	k.replacer, k.long = strings.NewReplacer(pairs...), strings.NewReplacer(long...)
	s.known.Store(k)
}

// Text replaces every known secret in a text by "[secret NAME]".
func (s *Scrubber) Text(t string) string {
	k := s.known.Load()
	if k == nil || len(t) < k.shortest {
		return t
	}
	return k.replaceIn(t)
}

func (k *secretReplacer) replaceIn(t string) string {
	switch {
	case len(t) < k.shortest:
		return t
	case isImageData(t):
		return k.long.Replace(t)
	}
	return k.replaceCutTail(k.replaceFolded(k.replacePercentEncoded(k.replacer.Replace(t))))
}

// minCutTail is the minimum length of a prefix of a secret at the end of a text that counts as a truncated secret.
const minCutTail = 6

// replaceCutTail replaces a truncated secret at the end of a text.
func (k *secretReplacer) replaceCutTail(t string) string {
	body := strings.TrimRight(t, "…. ")
	for _, v := range k.raw {
		for n := len(v.value) - 1; n >= minCutTail; n-- {
			if strings.HasSuffix(body, v.value[:n]) {
				return body[:len(body)-n] + "[secret " + v.name + "]" + t[len(body):]
			}
		}
	}
	return t
}

// minInPicture is the minimum length of a spelling, in bytes, that does not occur by chance in megabytes of base64.
const minInPicture = 10

// pictures are the first and last bytes of binary formats: PNG, JPEG, WebP, PDF. Short secrets occur by chance in
// megabytes of their base64, and replacing them would corrupt the data.
var pictures = []struct{ head, tail string }{
	{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "IEND\xaeB`\x82"},
	{"\xff\xd8\xff", "\xff\xd9"},
	{"RIFF", ""},
	{"%PDF-", "%%EOF"},
}

// isImageData reports whether a text is a whole picture in base64, and not one that only begins like it.
func isImageData(t string) bool {
	if len(t) < 256 || len(t)%4 != 0 || strings.ContainsAny(t[:256], " \n\"<&%-_") {
		return false
	}
	head, err := base64.StdEncoding.DecodeString(t[:64])
	if err != nil || !slices.ContainsFunc(pictures, func(p struct{ head, tail string }) bool {
		return strings.HasPrefix(string(head), p.head)
	}) {
		return false
	}
	whole, err := base64.StdEncoding.DecodeString(t)
	if err != nil {
		return false
	}
	if string(whole[:4]) == "RIFF" {
		return string(whole[8:12]) == "WEBP" && (int(binary.LittleEndian.Uint32(whole[4:]))+9)&^1 == len(whole)
	}
	end := strings.TrimRight(string(whole[len(whole)-16:]), "\r\n")
	return slices.ContainsFunc(pictures, func(p struct{ head, tail string }) bool {
		return strings.HasPrefix(string(whole), p.head) && strings.HasSuffix(end, p.tail)
	})
}

// isTargetID recognises the names that Chromium gives to its frames, targets and requests: replacing a part of one
// would lose the thing it names. A secret that is the whole of one is replaced.
func (k *secretReplacer) isTargetID(t string) bool {
	if len(t) != 32 || strings.Trim(t, "0123456789ABCDEF") != "" {
		return false
	}
	return !slices.ContainsFunc(k.raw, func(n namedSecret) bool { return n.value == t })
}

// JSON cleans the strings of a JSON text.
func (s *Scrubber) JSON(data []byte) []byte {
	k := s.known.Load()
	if k == nil || len(data) < k.shortest {
		return data
	}
	var out []byte // nil as long as nothing was replaced
	done := 0      // how much of data is in out
	structural := false
	for at := 0; at < len(data); {
		start := bytes.IndexByte(data[at:], '"')
		if start < 0 {
			break
		}
		start += at
		end := stringEnd(data, start)
		at = end
		quoted, name := data[start:end], isMemberName(data[end:])
		keep := (name || structural) && isProtocolWord(quoted)
		if name {
			structural = isStructuralName(quoted)
		}
		if keep {
			continue
		}
		clean, changed := k.replaceInLiteral(quoted)
		if !changed {
			continue
		}
		encoded, err := json.Marshal(clean)
		if err != nil {
			continue // strings always marshal
		}
		out = append(append(out, data[done:start]...), encoded...)
		done = end
	}
	if out == nil {
		return data
	}
	return append(out, data[done:]...)
}

// isMemberName reports whether what follows a string makes it the name of a member.
func isMemberName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// isStructuralName reports whether what a member of this name says is part of the protocol rather than of a page. A
// password that is a plain word must not make a message unreadable.
func isStructuralName(quoted []byte) bool {
	return slices.Contains([]string{`"method"`, `"type"`, `"subtype"`}, string(quoted))
}

// isProtocolWord reports whether a string is letters and dots only, as the names of the protocol are.
func isProtocolWord(quoted []byte) bool {
	if len(quoted) > 48 {
		return false
	}
	return !slices.ContainsFunc(bytes.Trim(quoted, `"`), func(c byte) bool {
		return c != '.' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// replaceInLiteral cleans what a string of JSON, in its quotes, says.
func (k *secretReplacer) replaceInLiteral(quoted []byte) (clean string, changed bool) {
	if len(quoted) < k.shortest+2 {
		return "", false
	}
	var text string
	if bytes.IndexByte(quoted, '\\') < 0 {
		text = string(quoted[1 : len(quoted)-1])
	} else if json.Unmarshal(quoted, &text) != nil {
		text = string(bytes.Trim(quoted, `"`))
	}
	if k.isTargetID(text) {
		return "", false
	}
	clean = k.replaceIn(text)
	return clean, clean != text
}

// stringEnd returns where the string that begins at start ends.
func stringEnd(data []byte, start int) int {
	for at := start + 1; at < len(data); {
		i := bytes.IndexAny(data[at:], `"\`)
		if i < 0 {
			return len(data)
		}
		if data[at+i] == '"' {
			return at + i + 1
		}
		at += i + 2
	}
	return len(data)
}

// spellings returns the ways in which a secret is written in texts.
func spellings(v string) []string {
	all := []string{v, strings.TrimSpace(v), strings.Join(strings.Fields(v), " "), strings.ToUpper(v), strings.ToLower(v)}
	if backwards := []rune(v); len(backwards) >= minFolded {
		slices.Reverse(backwards)
		all = append(all, string(backwards))
	}
	all = slices.Concat(all, jsonSpellings(v), htmlSpellings(v))
	// What is percent-encoded is found by [known.replacePercentEncoded], unless it was encoded after something else.
	for _, s := range slices.Clone(all[1:]) {
		all = append(all, url.QueryEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), url.PathEscape(s))
	}
	for _, s := range []string{v, url.QueryEscape(v), jsonSpellings(v)[1]} { // as bodies of requests are told
		all = append(all, base64Spellings(s)...)
	}
	all = append(all, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool {
		return utf8.RuneCountInString(s) < MinSecretLength
	})
}

func jsonSpellings(s string) []string {
	plain, _ := json.Marshal(s) // strings always marshal
	var loose bytes.Buffer
	enc := json.NewEncoder(&loose)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	var ascii strings.Builder
	for _, r := range strings.TrimSpace(loose.String()) {
		switch {
		case r < 0x80:
			ascii.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		}
	}
	out := []string{string(plain), strings.TrimSpace(loose.String()), ascii.String()}
	for i := range out {
		out[i] = out[i][1 : len(out[i])-1]
	}
	return append(out, strings.ReplaceAll(out[1], "/", `\/`))
}

func htmlSpellings(s string) []string {
	plain := html.EscapeString(s)
	return []string{
		plain,
		strings.NewReplacer("&#34;", "&quot;").Replace(plain),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "'").Replace(plain), // as browsers write attributes
		strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(plain),      // and text
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(plain),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(plain),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#039;").Replace(plain),
	}
}

// base64Spellings returns the forms a secret takes inside base64-encoded data, one for each of its three
// possible alignments. It leaves out the characters at the ends, which depend on the neighbouring bytes.
func base64Spellings(v string) []string {
	var out []string
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		text := base64.RawStdEncoding.EncodeToString(padded)
		first := (shift*8 + 5) / 6
		text = text[first : len(padded)*8/6]
		out = append(out, text, strings.NewReplacer("+", "-", "/", "_").Replace(text),
			strings.NewReplacer("+", "%2B", "/", "%2F").Replace(text))
	}
	return out
}
