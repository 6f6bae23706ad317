package discordtest

// An Embed is a card below a message.
type ShapeEmbed struct {
	Title       string            `json:"title,omitempty"`
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	URL         string            `json:"url,omitempty"`
	Timestamp   string            `json:"timestamp,omitempty"`
	Color       int               `json:"color,omitempty"`
	Footer      *ShapeEmbedFooter `json:"footer,omitempty"`
	Image       *ShapeEmbedMedia  `json:"image,omitempty"`
	Thumbnail   *ShapeEmbedMedia  `json:"thumbnail,omitempty"`
	Author      *ShapeEmbedAuthor `json:"author,omitempty"`
	Fields      []ShapeEmbedField `json:"fields,omitempty"`
}

// ShapeEmbedFooter is the small text at the end.
type ShapeEmbedFooter struct {
	Text    string `json:"text"`
	IconURL string `json:"icon_url,omitempty"`
}

// ShapeEmbedMedia is a picture: an http address, or attachment://name of a file of
// the same message.
type ShapeEmbedMedia struct {
	URL string `json:"url"`
}

// ShapeEmbedAuthor is the small text at the top.
type ShapeEmbedAuthor struct {
	Name    string `json:"name"`
	URL     string `json:"url,omitempty"`
	IconURL string `json:"icon_url,omitempty"`
}

// ShapeEmbedField is a heading with text.
type ShapeEmbedField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}
