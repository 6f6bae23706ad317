package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"clank/llm"
)

// What a conversation is made of, as the reference of the Messages API has it (version 2023-06-01). What the model
// said is sent back as it came, see [RawBlock]; what we say has a type.

// Who says a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string    `json:"role"`
	Content []Content `json:"content"`
}

// Content is one block of a message: a [TextBlock], [ImageBlock], [ResultBlock]
// or [RawBlock]. Blocks are replaced, never changed, so questions may share them.
type Content interface {
	// marked is the same with a mark for the cache; false if it takes none.
	marked() (Content, bool)
}

// TextBlock is text. See [Text] and [OptionalText].
type TextBlock struct {
	Type         string        `json:"type"`
	Text         string        `json:"text"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

// ImageBlock is a picture. See [NewImage].
type ImageBlock struct {
	Type            string           `json:"type"`
	Source          imageSource      `json:"source"`
	Transformations *transformations `json:"transformations,omitempty"`
	CacheControl    *cacheControl    `json:"cache_control,omitempty"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type transformations struct {
	OversizedImage string `json:"oversized_image"`
}

// ResultBlock answers a call of a tool. See [NewResult].
type ResultBlock struct {
	Type         string        `json:"type"`
	ToolUseID    string        `json:"tool_use_id"`
	Toolset      string        `json:"toolset_name,omitempty"`
	IsError      bool          `json:"is_error,omitempty"`
	Content      []Content     `json:"content,omitempty"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

// RawBlock is a block in JSON that is sent as it stands, but for space between its tokens.
type RawBlock json.RawMessage

// MarshalJSON implements json.Marshaler.
func (b RawBlock) MarshalJSON() ([]byte, error) { return b, nil }

// cacheControl marks the end of what is worth caching.
type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControl{Type: "ephemeral"}

func (b TextBlock) marked() (Content, bool) {
	b.CacheControl = ephemeral
	return b, true
}

func (b ImageBlock) marked() (Content, bool) {
	b.CacheControl = ephemeral
	return b, true
}

func (b ResultBlock) marked() (Content, bool) {
	b.CacheControl = ephemeral
	return b, true
}

func (b RawBlock) marked() (Content, bool) { return b, false }

// NoOutput stands where a tool had nothing to say: the API wants some text.
const NoOutput = "(no output)"

// ReplayContent returns what the model said, unchanged, as it is sent back.
func ReplayContent(blocks []Block) []Content {
	replayed := make([]Content, len(blocks))
	for i, b := range blocks {
		replayed[i] = RawBlock(b.Raw)
	}
	return replayed
}

// NewText returns a text block. The text must not be blank.
func NewText(text string) TextBlock { return TextBlock{Type: "text", Text: text} }

// OptionalText returns a block of text, or none if it says nothing, which the API does not take.
func OptionalText(text string) []Content {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []Content{NewText(text)}
}

// NewImage returns a picture.
func NewImage(image llm.Image) ImageBlock {
	return ImageBlock{Type: "image", Source: imageSource{Type: "base64", MediaType: image.MediaType, Data: image.Data}}
}

// NewImages returns image blocks.
func NewImages(images []llm.Image) []ImageBlock {
	blocks := make([]ImageBlock, len(images))
	for i, image := range images {
		blocks[i] = NewImage(image)
	}
	return blocks
}

// Unscaled has the vendor refuse a picture that is too large for the model, which it would shrink otherwise.
func (b ImageBlock) Unscaled() ImageBlock {
	b.Transformations = &transformations{OversizedImage: "error"}
	return b
}

// NewResult answers a call of a tool. Pictures of a failed tool are left out: the API takes only text there.
func NewResult(id, toolset, text string, images []ImageBlock, failed bool) ResultBlock {
	r := ResultBlock{Type: "tool_result", ToolUseID: WireID(id), Toolset: toolset, IsError: failed}
	if failed {
		images = nil
	}
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		text = NoOutput
	}
	r.Content = OptionalText(text)
	for _, image := range images {
		r.Content = append(r.Content, image)
	}
	return r
}

// ReadBlock reads text or the result of a tool from JSON. Other blocks are kept as they stand.
func ReadBlock(raw json.RawMessage) (Content, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, fmt.Errorf("read block: %w", err)
	}
	switch kind.Type {
	case "text":
		return readText(raw)
	case "tool_result":
		return readResult(raw)
	}
	return RawBlock(raw), nil
}

func readText(raw json.RawMessage) (Content, error) {
	var b TextBlock
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read block: %w", err)
	}
	return b, nil
}

func readResult(raw json.RawMessage) (Content, error) {
	var r struct {
		ResultBlock
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("read block: %w", err)
	}
	for _, inner := range r.Content {
		b, err := ReadBlock(inner)
		if err != nil {
			return nil, err
		}
		r.ResultBlock.Content = append(r.ResultBlock.Content, b)
	}
	return r.ResultBlock, nil
}

// wireIDs is what the API takes for the id of a call.
var wireIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) })

// WireID fits an id from elsewhere into what the API takes. The same id always becomes the same.
func WireID(id string) string {
	if wireIDs().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "toolu_" + hex.EncodeToString(sum[:12])
}
