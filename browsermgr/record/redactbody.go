package record

import (
	"encoding/json"
	"regexp"
	"strings"
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

// jsonString matches a string of JSON, also one that was cut off.
var jsonString = regexp.MustCompile(`^"(?:[^"\\]|\\.|\\$)*(?:"|$)`)

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
		text := jsonString.FindString(s)
		if text == "" {
			text = s // not to be read as a string: keep to the end
		}
		s = s[len(text):]
		b.WriteString(redactText(text))
		gap, isKey := colon(s)
		if !isKey || !secretName(unquote(text)) {
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

// colon is the length of the colon that makes the string before it a name, with the space around it.
func colon(s string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), ":")
	if !ok {
		return 0, false
	}
	return len(s) - len(strings.TrimLeft(rest, " \t\r\n")), true
}

func unquote(text string) string {
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
			s = s[max(len(jsonString.FindString(s)), 1):]
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
var fieldName = regexp.MustCompile(`(?i)\bname="?([^";\r\n]*)`)

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
		name := fieldName.FindStringSubmatch(head)
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

// assignment finds "name: value", "name=value" and, in XML, <name>value<, in text without a known form.
var assignment = regexp.MustCompile(`([\w.-]{2,64})("?\s*[:=]\s*"?|(?:\s[^<>]*)?>)([^\s"<>&,;]+)`)

func redactLoose(s string) string {
	s = redactText(s)
	var b strings.Builder
	last := 0
	for _, m := range assignment.FindAllStringSubmatchIndex(s, -1) {
		if secretName(s[m[2]:m[3]]) {
			b.WriteString(s[last:m[6]] + Redacted)
			last = m[7]
		}
	}
	return b.String() + s[last:]
}
