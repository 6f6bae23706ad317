package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"

	"clank/computeruse"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/llm/openai"

	client "github.com/sashabaranov/go-openai"
)

// stateVersion is raised when a memory can no longer be read as before.
const stateVersion = 1

// Limits of what is kept.
const (
	maxItems    = 160 // of a conversation that is sent completely; a longer one is restarted
	maxLog      = 40  // lines
	maxLogChars = 600 // of one line
)

// storedState is the stored form of the conversation.
type storedState struct {
	Version  int         `json:"version"`
	Whole    bool        `json:"whole,omitempty"`    // it is sent whole each time
	Previous string      `json:"previous,omitempty"` // the response from which the vendor continues
	Items    []inputItem `json:"items,omitempty"`    // the conversation, if it is sent completely
	Told     []inputItem `json:"told,omitempty"`     // sent, but not answered yet
	Open     []openCall  `json:"open,omitempty"`     // calls that must be answered
	Size     image.Point `json:"size,omitzero"`      // of the newest picture
	Log      []string    `json:"log,omitempty"`      // what was said in words, in case everything else is lost
}

// conversation is one conversation.
type conversation struct {
	model *Model
	brief computeruse.ConversationOptions
	state storedState
}

// Next implements [computeruse.Conversation].
func (t *conversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	if in.Shot != nil {
		t.state.Size = in.Shot.Size
	}
	said := slices.Clone(t.state.Log)
	t.addInput(in)
	res, err := t.ask(ctx, in)
	var notices []string
	if err != nil && t.state.Previous != "" && openai.IsResponseLost(err) && ctx.Err() == nil {
		t.state.Whole = true // the server may not store conversations
		t.state.Log = said
		t.restart("(The earlier part of this conversation is lost. What was said in words:)")
		t.resume(in)
		notices = []string{"the model's provider has lost the conversation so far; it goes on with what was said in words"}
		res, err = t.ask(ctx, in)
	}
	if err != nil {
		return computeruse.Turn{}, err
	}
	turn, open, err := readTurn(res.Output)
	if err != nil {
		return computeruse.Turn{}, unreadable(t.model.Name(), "output", err)
	}
	t.addAnswer(res, turn, open)
	turn.Stop, turn.Usage, turn.Notices = res.Stop, res.Usage, notices
	if len(open) > 0 && res.Stop == llm.StopEnd {
		turn.Stop = llm.StopTools
	}
	return turn, nil
}

// addInput adds the next input. A call whose warning nobody acknowledged cannot be answered; then the conversation is
// restarted without it.
func (t *conversation) addInput(in computeruse.Input) {
	if unacknowledged(in, t.state.Open) {
		t.restart("(What was said so far, in words:)")
		t.resume(in)
		return
	}
	if len(t.state.Items) > maxItems {
		t.restart("(The earlier part of this conversation is left out. What was said in words:)")
		t.resume(in)
		return
	}
	t.state.Told = append(t.state.Told, inputItems(in, t.state.Open)...)
	t.state.Open = nil
	for _, s := range in.Says {
		t.logText("told: " + s)
	}
}

// unacknowledged reports whether a call had a warning that nobody acknowledged.
func unacknowledged(in computeruse.Input, open []openCall) bool {
	for _, c := range open {
		if o, _ := in.Outcome(c.ID); len(o.Acknowledged) < len(c.Safety) {
			return true
		}
	}
	return false
}

// restart drops the conversation except for what was said in words.
func (t *conversation) restart(why string) {
	t.state.Previous, t.state.Items, t.state.Told, t.state.Open = "", nil, nil, nil
	if len(t.state.Log) > 0 {
		t.state.Told = []inputItem{
			{Kind: kindMessage, Parts: []inputPart{textPart(why + "\n" + strings.Join(t.state.Log, "\n"))}},
		}
	}
}

// resume adds the new input to a conversation without calls.
func (t *conversation) resume(in computeruse.Input) {
	for _, o := range in.Outcomes {
		if about := resultText(o); about != "" {
			in.Says = append(in.Says, about)
		}
	}
	for _, r := range in.Results {
		in.Says = append(in.Says, "A tool answered: "+r.Text)
	}
	t.state.Told = append(t.state.Told, inputItems(in, nil)...)
	for _, s := range in.Says {
		t.logText("told: " + s)
	}
}

// ask sends the input; in says what else the answer must have.
func (t *conversation) ask(ctx context.Context, in computeruse.Input) (openai.Response, error) {
	o := t.model.opts
	detail := "original"
	if o.Dialect == DialectPreview {
		detail = ""
	}
	items := t.state.Told
	if t.state.Whole {
		items = withoutOldImages(append(slices.Clone(t.state.Items), items...), maxPictures)
	}
	wire := []any{}
	for _, i := range items {
		wire = append(wire, i.request(detail))
	}
	no := false
	store := !t.state.Whole
	req := client.CreateResponseRequest{
		Instructions: t.brief.System, Input: wire, Store: &store, ParallelToolCalls: &no,
		SafetyIdentifier: t.brief.EndUser, MaxOutputTokens: cmp.Or(in.MaxTokens, t.brief.MaxTokens),
		Tools: t.tools(), Reasoning: &client.ResponseReasoning{Summary: "auto"},
	}
	if t.state.Whole {
		if t.model.model.EncryptsReasoning() && o.Dialect != DialectPreview {
			req.Include = []client.ResponseInclude{client.ResponseIncludeReasoningEncryptedContent}
		}
	} else {
		req.PreviousResponseID = t.state.Previous
	}
	if o.Dialect == DialectPreview {
		req.Truncation = client.ResponseTruncationAuto
	}
	if in.Final {
		req.ToolChoice = "none"
	}
	return t.model.model.Respond(ctx, req)
}

// addAnswer adds an answer.
func (t *conversation) addAnswer(res openai.Response, turn computeruse.Turn, open []openCall) {
	if t.state.Whole {
		t.state.Items = append(t.state.Items, t.state.Told...)
		for _, raw := range res.Output {
			t.state.Items = append(t.state.Items, inputItem{Raw: slices.Clone(raw)})
		}
		t.state.Items = withoutOldImages(t.state.Items, maxPictures)
	} else {
		t.state.Previous = res.ID
	}
	t.state.Told, t.state.Open = nil, open
	if turn.Text != "" {
		t.logText("you: " + turn.Text)
	}
	for _, c := range turn.Calls {
		var kinds []string
		for _, a := range c.Actions {
			kinds = append(kinds, string(a.Kind)) // without typed text, which may be a password
		}
		t.logText("you acted: " + strings.Join(kinds, ", "))
	}
	for _, c := range turn.Tools {
		t.logText("you used: " + c.Name + " " + string(c.Input))
	}
}

// logText adds to what was said in words, within the limit.
func (t *conversation) logText(line string) {
	t.state.Log = append(t.state.Log, untrusted.ShortenLine(line, maxLogChars))
	t.state.Log = t.state.Log[max(0, len(t.state.Log)-maxLog):]
}

// Memory implements [computeruse.Conversation].
func (t *conversation) Memory() (json.RawMessage, error) {
	k := t.state
	k.Version = stateVersion
	k.Items, k.Told = withoutOldImages(k.Items, 0), withoutOldImages(k.Told, 0)
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}

func parseState(raw json.RawMessage) (storedState, error) {
	var k storedState
	if err := json.Unmarshal(raw, &k); err != nil {
		return storedState{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if k.Version != stateVersion {
		return storedState{}, fmt.Errorf("read the stored conversation: version %d, not %d", k.Version, stateVersion)
	}
	return k, nil
}
