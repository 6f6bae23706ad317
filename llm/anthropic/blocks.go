package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"clank/llm"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// NoOutput stands where a tool had nothing to say: the API wants some text.
const NoOutput = "(no output)"

// Replay is what the model said, as it is sent back: unchanged.
func Replay(blocks []Block) []sdk.ContentBlockParamUnion {
	replayed := make([]sdk.ContentBlockParamUnion, len(blocks))
	for i, b := range blocks {
		replayed[i] = RawBlock(b.Raw)
	}
	return replayed
}

// RawBlock is a block that is sent as it stands.
func RawBlock(raw json.RawMessage) sdk.ContentBlockParamUnion {
	return param.Override[sdk.ContentBlockParamUnion](raw)
}

// TextBlock is text; false if it says nothing, which the API does not take.
func TextBlock(text string) (sdk.ContentBlockParamUnion, bool) {
	return sdk.NewTextBlock(text), strings.TrimSpace(text) != ""
}

// ImageBlock is a picture.
func ImageBlock(image llm.Image) *sdk.ImageBlockParam {
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		Data: base64.StdEncoding.EncodeToString(image.Data), MediaType: sdk.Base64ImageSourceMediaType(image.MediaType),
	}}}
}

// ResultBlock answers a call of a tool. Pictures of a failed tool are left out:
// the API takes only text there.
func ResultBlock(id, toolset, text string, images []*sdk.ImageBlockParam, failed bool) sdk.ContentBlockParamUnion {
	r := &sdk.ToolResultBlockParam{ToolUseID: WireID(id)}
	if toolset != "" {
		r.ToolsetName = param.NewOpt(toolset)
	}
	if failed {
		r.IsError, images = param.NewOpt(true), nil
	}
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		text = NoOutput
	}
	if strings.TrimSpace(text) != "" {
		r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
	}
	for _, image := range images {
		r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image})
	}
	return sdk.ContentBlockParamUnion{OfToolResult: r}
}

// ToolOf describes a tool of ours.
func ToolOf(t llm.Tool) sdk.ToolUnionParam {
	tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schemaOf(t.Schema))}
	if t.Description != "" {
		tool.Description = param.NewOpt(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: tool}
}

func schemaOf(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return schema
}

// wireIDs is what the API takes for the id of a call.
var wireIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) })

// WireID fits an id from elsewhere into what the API takes. The same id always
// becomes the same.
func WireID(id string) string {
	if wireIDs().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "toolu_" + hex.EncodeToString(sum[:12])
}
