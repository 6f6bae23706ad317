//go:build peers

package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// resend reads a request of ours strictly with the vendor's types and sends it with the vendor's client.
func resend(t *testing.T, s *llmtest.Tape, body []byte) {
	t.Helper()
	var w struct {
		Contents          []*genai.Content
		SystemInstruction *genai.Content
		Tools             []*genai.Tool
		ToolConfig        *genai.ToolConfig
		GenerationConfig  genai.GenerationConfig
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	check.Must(t, d.Decode(&w))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: testKey, Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: s},
		HTTPOptions: genai.HTTPOptions{BaseURL: "https://server.test/sub/", APIVersion: "v1beta"},
	})
	check.Must(t, err)
	config := genai.GenerateContentConfig{
		SystemInstruction: w.SystemInstruction, Tools: w.Tools, ToolConfig: w.ToolConfig,
		MaxOutputTokens: w.GenerationConfig.MaxOutputTokens,
	}
	for _, err := range client.Models.GenerateContentStream(ctx, newer, w.Contents, &config) {
		check.Must(t, err)
	}
}

// decoded returns a body, without empty texts: the vendor's client leaves them out,
// the vendor's server demands them beside signatures.
func decoded(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	check.Must(t, json.Unmarshal(bytes.ReplaceAll(body, []byte(`,"text":""`), nil), &v))
	return v
}

func TestTheVendorsClientSendsTheSame(t *testing.T) {
	png := llm.Image{MediaType: "image/png", Data: []byte{0xff, 0xfe, 0xfd, 3, '<'}}
	call := func(id string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "look", Input: json.RawMessage(`{"at":"<ü\u2028>","n":[1,2.5,-3e20,null]}`)}
	}
	said, again := call("a"), call("clank_1")
	talk := llm.Request{
		System: "be brief & kind", MaxTokens: 300,
		Tools: []llm.Tool{look, {Name: "act", Description: "Acts."}}, Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "what is it?"}, {Image: &png}}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{
				{Opaque: &llm.Opaque{
					Owner: "server.test " + newer,
					Data:  json.RawMessage(`{"part":{"text":"hm","thought":true}}`),
				}},
				{Opaque: &llm.Opaque{Owner: "server.test " + newer, Data: json.RawMessage(`{"call":"a","signature":"+/8="}`)}},
				{Call: &said},
				{Call: &again},
			}},
			{Role: llm.RoleUser, Parts: []llm.Part{
				{Result: &llm.ToolResult{ID: "a", Text: "A", Images: []llm.Image{png, png}}},
				{Result: &llm.ToolResult{ID: "clank_1", IsError: true}},
				{Text: "and?"},
			}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{
				{Text: "x"},
				{Opaque: &llm.Opaque{Owner: "server.test " + newer, Data: json.RawMessage(`{"part":{"thoughtSignature":"c2ln"}}`)}},
			}},
			llm.UserText("go on"),
		},
	}
	browser := gemini.Config{
		System: "work the screen", MaxOutputTokens: 9,
		ToolConfig: &gemini.ToolConfig{FunctionCallingConfig: &gemini.FunctionCallingConfig{Mode: gemini.ModeNone}},
		Tools: []*gemini.Tool{{ComputerUse: &gemini.ComputerUse{
			Environment: gemini.EnvironmentBrowser, ExcludedPredefinedFunctions: []string{"search"},
		}}},
	}
	for name, send := range map[string]func(*llmtest.Tape) error{
		"a word": func(s *llmtest.Tape) error {
			_, err := taped(t, s, gemini.Options{}).Generate(t.Context(), ask("hello"), nil)
			return err
		},
		"a talk with tools": func(s *llmtest.Tape) error {
			_, err := taped(t, s, gemini.Options{}).Generate(t.Context(), talk, nil)
			return err
		},
		"a screen": func(s *llmtest.Tape) error {
			said := []*gemini.Content{{Role: gemini.RoleUser, Parts: []*gemini.Part{{Text: "go"}}}}
			_, err := taped(t, s, gemini.Options{}).Ask(t.Context(), said, browser, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Tape{Body: done}
			check.Must(t, send(s))
			resend(t, s, s.Bodies[0])
			ours, theirs := s.Requests[0], s.Requests[1]
			if ours.Method != theirs.Method || ours.URL.String() != theirs.URL.String() {
				t.Errorf("sent %s %s, want %s %s", ours.Method, ours.URL, theirs.Method, theirs.URL)
			}
			for _, header := range []string{"Content-Type", "X-Goog-Api-Key"} {
				if got, want := ours.Header.Get(header), theirs.Header.Get(header); got != want || want == "" {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			if wait, err := strconv.Atoi(ours.Header.Get("X-Server-Timeout")); err != nil || wait < 1 || wait > 600 {
				t.Errorf("the server may take %q s, want at most the ten minutes that we wait", ours.Header.Get("X-Server-Timeout"))
			}
			if diff := cmp.Diff(decoded(t, s.Bodies[1]), decoded(t, s.Bodies[0])); diff != "" {
				t.Errorf("body (-theirs +ours):\n%s", diff)
			}
		})
	}
}

// A new kind of part in the vendor's types is to be carried here, too.
func TestPartsHaveEveryFieldOfTheVendors(t *testing.T) {
	names := func(of reflect.Type) map[string]bool {
		all := map[string]bool{}
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			all[name] = true
		}
		return all
	}
	if diff := cmp.Diff(names(reflect.TypeFor[genai.Part]()), names(reflect.TypeFor[gemini.Part]())); diff != "" {
		t.Errorf("fields (-theirs +ours):\n%s", diff)
	}
}
