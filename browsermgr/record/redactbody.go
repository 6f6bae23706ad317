package record

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// RedactBody removes secrets from the body of a message. mime is its content type, which may be wrong. It reports false if
// the body is not text: then nothing of it is told.
func RedactBody(mime, body string) (string, bool) {
	if !utf8.ValidString(body) || strings.ContainsRune(body, 0) {
		return "", false
	}
	mime = strings.ToLower(mime)
	head := strings.TrimSpace(body)
	switch {
	case strings.Contains(mime, "multipart/"), strings.HasPrefix(head, "--") && strings.Contains(body, "name="):
		return redactMultipart(body), true
	case strings.Contains(mime, "json"), strings.HasPrefix(head, "{"), strings.HasPrefix(head, "["):
		return redactJSON(body), true
	case strings.Contains(mime, "urlencoded"), strings.Contains(body, "=") && !strings.ContainsAny(body, " \n<"):
		return redactParams(body), true
	}
	return redactLoose(body), true
}

// stringEnd returns the length of the JSON string that s begins with, also of one that was cut off.
func stringEnd(s string) int {
	for i := 1; ; {
		at := strings.IndexAny(s[i:], `"\\`)
		switch {
		case at < 0 || s[i+at] == '\\' && i+at+2 > len(s):
			return len(s)
		case s[i+at] == '"':
			return i + at + 1
		}
		i += at + 2
	}
}

// redactJSON removes the values of members whose name is that of a secret. The text need not be valid or whole, and stays as
// it is written otherwise.
func redactJSON(s string) string {
	var b strings.Builder
	for s != "" {
		if s[0] != '"' {
			end := strings.IndexByte(s, '"')
			if end < 0 {
				end = len(s)
			}
			b.WriteString(s[:end])
			s = s[end:]
			continue
		}
		text := s[:stringEnd(s)]
		s = s[len(text):]
		b.WriteString(redactText(text))
		gap, isKey := colonLength(s)
		if !isKey || !secretName(unquoteJSON(text)) {
			continue
		}
		rest := skipValue(s[gap:])
		b.WriteString(s[:gap])
		if value := s[gap : len(s)-len(rest)]; value != "" && value != "null" && value != `""` {
			b.WriteString(`"` + Redacted + `"`)
		} else {
			b.WriteString(value)
		}
		s = rest
	}
	return b.String()
}

// colonLength returns the length of the colon that makes the string before it a name, with the space around it.
func colonLength(s string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), ":")
	if !ok {
		return 0, false
	}
	return len(s) - len(strings.TrimLeft(rest, " \t\r\n")), true
}

func unquoteJSON(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		return text
	}
	return s
}

// skipValue returns what follows a JSON value.
func skipValue(s string) string {
	depth := 0
	for s != "" {
		switch s[0] {
		case '"':
			s = s[stringEnd(s):]
		case '{', '[':
			depth++
			s = s[1:]
			continue
		case '}', ']':
			if depth == 0 {
				return s
			}
			depth--
			s = s[1:]
		case ',':
			if depth == 0 {
				return s
			}
			s = s[1:]
			continue
		case ':', ' ', '\t', '\r', '\n':
			s = s[1:]
			continue
		default:
			end := strings.IndexAny(s, ",]}\"{[: \t\r\n")
			if end < 0 {
				end = len(s)
			}
			s = s[end:]
		}
		if depth == 0 {
			return s
		}
	}
	return s
}

// fieldName finds the name in the head of a part of a form.
var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bname="?([^";\r\n]*)`) })

// redactMultipart removes the values of a form's fields whose name is that of a secret.
func redactMultipart(body string) string {
	start := strings.Index(body, "--")
	if start < 0 {
		return redactLoose(body)
	}
	line, _, _ := strings.Cut(body[start:], "\n")
	boundary := strings.TrimRight(line, "\r")
	if len(boundary) < 3 {
		return redactLoose(body)
	}
	parts := strings.Split(body, boundary)
	for i, part := range parts {
		at := strings.Index(part, "\r\n\r\n")
		gap := 4
		if at < 0 {
			at, gap = strings.Index(part, "\n\n"), 2
		}
		if at < 0 {
			continue
		}
		head, value := part[:at+gap], part[at+gap:]
		name := fieldName().FindStringSubmatch(head)
		switch trimmed := strings.TrimRight(value, "\r\n"); {
		case name != nil && secretName(name[1]) && trimmed != "":
			parts[i] = head + Redacted + value[len(trimmed):]
		case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, "["):
			parts[i] = head + redactJSON(value)
		default:
			parts[i] = head + redactText(value)
		}
	}
	return strings.Join(parts, boundary)
}

// redactLoose removes what follows the name of a secret in text without a known form: after a colon to the end of the
// line or part of it, after an equals sign to the next space, or in XML to the next tag.
func redactLoose(s string) string {
	s = redactText(s)
	var b strings.Builder
	for {
		at := strings.IndexAny(s, ":=>")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		ends := map[byte]string{':': "\r\n,;&<\"'", '=': "\r\n\t ,;&<>\"'", '>': "<"}[s[at]]
		secret := secretName(nameBefore(s[:at], s[at]))
		rest := strings.TrimLeft(s[at+1:], "\"' ")
		b.WriteString(s[:len(s)-len(rest)])
		s = rest
		if !secret {
			continue
		}
		end := strings.IndexAny(s, ends)
		if end < 0 {
			end = len(s)
		}
		if strings.TrimSpace(s[:end]) != "" {
			b.WriteString(Redacted)
			s = s[end:]
		}
	}
}

// maxName is the longest name that is looked for.
const maxName = 100

// nameBefore returns the name at the end of a text: that of the tag, or of what is assigned to.
func nameBefore(s string, sign byte) string {
	s = s[max(len(s)-maxName, 0):]
	if sign == '>' {
		tag := s[strings.LastIndexByte(s, '<')+1:]
		name, _, _ := strings.Cut(tag, " ")
		if strings.HasPrefix(name, "/") {
			return ""
		}
		return name
	}
	s = strings.TrimRight(s, "\"' ")
	return s[strings.LastIndexAny(s, "\"'\r\n\t ,;&<>{}()[]=:")+1:]
}
