package discordtest

import (
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "embed"
)

//go:embed draw.html
var drawing string

var drawTemplate = sync.OnceValue(func() *template.Template {
	size := func(n int) string { return fmt.Sprintf("%.3g MB", float64(n)/1e6) }
	return template.Must(template.New("").Funcs(template.FuncMap{"size": size}).Parse(drawing))
})

// Draw returns a page that shows a message like Discord's apps.
func (s *Server) Draw(m Message) string {
	type file struct {
		Attachment
		Picture template.URL
	}
	var files []file
	for _, a := range m.Attachments {
		f := file{Attachment: a}
		if strings.HasPrefix(a.ContentType, "image/") {
			data := base64.StdEncoding.EncodeToString(a.Data)
			f.Picture = template.URL("data:" + a.ContentType + ";base64," + data)
		}
		files = append(files, f)
	}
	return draw(map[string]any{
		"Author": m.Author.Username, "Bot": m.Author.Bot, "At": m.Timestamp.UTC().Format("15:04"),
		"Text":  s.markup(m.Content),
		"Files": files, "Rows": s.drawnParts(m.Components), "Private": m.ViewerID != "",
	})
}

// DrawForm is like Draw for a modal.
func (s *Server) DrawForm(m Modal) string {
	return draw(map[string]any{"Form": m.Title, "Rows": s.drawnParts(m.Components)})
}

// drawnPart is a component with its children and its formatted text.
type drawnPart struct {
	Component
	Text  template.HTML
	Parts []drawnPart
}

func (s *Server) drawnParts(list []Component) (parts []drawnPart) {
	for _, c := range list {
		inner := c.Components
		for _, one := range []*Component{c.Component, c.Accessory} {
			if one != nil {
				inner = append(inner, *one)
			}
		}
		parts = append(parts, drawnPart{c, s.markup(c.Content), s.drawnParts(inner)})
	}
	return parts
}

func draw(data map[string]any) string {
	var b strings.Builder
	if err := drawTemplate().Execute(&b, data); err != nil {
		panic(err) // the template is embedded
	}
	return b.String()
}

var drawnMarkup = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, p := range []string{
		"`([^`\n]+)`", `\*\*(.+?)\*\*`, `\*(.+?)\*`, `(?m)^-# (.*)$`, `(?m)^&gt; (.*)$`, `&lt;(https?://\S+?)&gt;`,
		`\\([^\w\s])`,
	} {
		list = append(list, regexp.MustCompile(p))
	}
	return list
})

var drawnMention = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`&lt;(@&amp;|@|#|t:)(\d+)(?::\w)?&gt;`)
})

// markup returns as HTML what apps show of a text in Discord's Markdown, as far as the bot uses that.
func (s *Server) markup(text string) template.HTML {
	text = html.EscapeString(text)
	text = drawnMention().ReplaceAllStringFunc(text, func(found string) string {
		p := drawnMention().FindStringSubmatch(found)
		if p[1] == "t:" {
			at, _ := strconv.ParseInt(p[2], 10, 64)
			return "<i>" + time.Unix(at, 0).UTC().Format("15:04") + "</i>"
		}
		return "<i>" + s.nameOf(p[1][:1], p[2]) + "</i>"
	})
	for n, with := range []string{
		"<code>$1</code>", "<b>$1</b>", "<em>$1</em>", "<small>$1</small>", "<blockquote>$1</blockquote>", "<u>$1</u>", "$1",
	} {
		text = drawnMarkup()[n].ReplaceAllString(text, with)
	}
	text = strings.ReplaceAll(text, "</blockquote>\n", "</blockquote>")
	text = strings.ReplaceAll(text, "📎", paperclip) // of which machines without fonts of emoji have no picture
	return template.HTML(text)
}

const paperclip = `<svg width="14" height="14" viewBox="0 0 24 24" fill="none" stroke="#b5bac1" stroke-width="2"><path ` +
	`d="M21 11l-9 9a6 6 0 0 1-8-8l9-9a4 4 0 0 1 6 6l-9 9a2 2 0 0 1-3-3l8-8"/></svg>`

// nameOf returns what a user, role or channel is called, after the sign of its kind.
func (s *Server) nameOf(sign, id string) string {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if ch := s.hub.Channels[id]; ch != nil {
		return html.EscapeString(sign + ch.Name)
	}
	for _, g := range s.hub.Guilds {
		for _, r := range g.Roles {
			if r.ID == id {
				return html.EscapeString(sign + r.Name)
			}
		}
	}
	return html.EscapeString(sign + s.hub.Users[id].Username)
}
