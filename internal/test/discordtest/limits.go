package discordtest

import (
	"net/url"
	"strings"
	"time"
)

// Documented limits of messages.
const (
	maxContent     = 2000
	maxAttachments = 10
	maxEmbeds      = 10
	maxEmbedText   = 6000
	maxRows        = 5
	maxButtons     = 5
	maxCustomID    = 100
)

// CheckBody holds a message, as it would be, against the limits.
func (m *Message) CheckBody() error {
	var f FormErrors
	f.Length("content", m.Content, 0, maxContent)
	f.Count("attachments", len(m.Attachments), 0, maxAttachments)
	checkEmbeds(&f, m)
	checkComponents(&f, m.Components)
	return f.Err()
}

// Empty tells whether there is nothing in the message that could be shown.
func (m *Message) Empty() bool {
	return strings.TrimSpace(m.Content) == "" && len(m.Embeds)+len(m.Attachments)+len(m.Components) == 0
}

func checkEmbeds(f *FormErrors, m *Message) {
	f.Count("embeds", len(m.Embeds), 0, maxEmbeds)
	total := 0
	for i, e := range m.Embeds {
		path := ErrorPath("embeds", i)
		f.Length(path+".title", e.Title, 0, 256)
		f.Length(path+".description", e.Description, 0, 4096)
		total += len([]rune(e.Title)) + len([]rune(e.Description))
		if e.Footer != nil {
			f.Length(path+".footer.text", e.Footer.Text, 0, 2048)
			total += len([]rune(e.Footer.Text))
		}
		if e.Author != nil {
			f.Length(path+".author.name", e.Author.Name, 0, 256)
			total += len([]rune(e.Author.Name))
		}
		f.Count(path+".fields", len(e.Fields), 0, 25)
		for j, field := range e.Fields {
			f.Length(ErrorPath(path+".fields", j, "name"), field.Name, 1, 256)
			f.Length(ErrorPath(path+".fields", j, "value"), field.Value, 1, 1024)
			total += len([]rune(field.Name)) + len([]rune(field.Value))
		}
		checkEmbedLinks(f, path, e)
		if e.empty() {
			f.Add(path, "BASE_TYPE_REQUIRED", "This field is required")
		}
	}
	if total > maxEmbedText {
		f.Add("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
}

func (e Embed) empty() bool {
	return e.Title == "" && e.Description == "" && len(e.Fields) == 0 &&
		e.Footer == nil && e.Image == nil && e.Thumbnail == nil && e.Author == nil
}

// checkEmbedLinks passes attachment:// addresses: Discord takes them also when
// there is no such file, and shows no picture.
func checkEmbedLinks(f *FormErrors, path string, e Embed) {
	link := func(path, address string) {
		if address != "" && !webAddress(address) && !strings.HasPrefix(address, "attachment://") {
			f.Add(path, "URL_TYPE_INVALID_SCHEME", "Scheme \""+schemeOf(address)+"\" is not supported. Scheme must be one of ('http', 'https').")
		}
	}
	link(path+".url", e.URL)
	if e.Image != nil {
		link(path+".image.url", e.Image.URL)
	}
	if e.Thumbnail != nil {
		link(path+".thumbnail.url", e.Thumbnail.URL)
	}
	if e.Color < 0 || e.Color > 0xffffff {
		f.Add(path+".color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
	}
	if e.Timestamp != "" {
		if _, err := time.Parse(time.RFC3339, e.Timestamp); err != nil {
			f.Add(path+".timestamp", "DATE_TIME_TYPE_PARSE", "Could not parse "+e.Timestamp+". Should be ISO8601.")
		}
	}
}

func webAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func schemeOf(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	return strings.ToLower(scheme)
}
