package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/openai"

	client "github.com/sashabaranov/go-openai"
)

// keptVersion is raised when a memory can no longer be read as before.
const keptVersion = 1

// Bounds of what is kept.
const (
	maxItems    = 160 // of a conversation that is sent whole; a longer one begins anew
	maxLog      = 40  // lines
	maxLogChars = 600 // of one line
)

// kept is the conversation as it is remembered.
type kept struct {
	Version  int         `json:"version"`
	Whole    bool        `json:"whole,omitempty"`    // it is sent whole each time
	Previous string      `json:"previous,omitempty"` // the response from which the vendor goes on
	Items    []item      `json:"items,omitempty"`    // what was said, if it is sent whole
	Told     []item      `json:"told,omitempty"`     // what was told, and not answered yet
	Open     []openCall  `json:"open,omitempty"`     // calls that must be answered
	Size     image.Point `json:"size,omitzero"`      // of the newest picture
	Log      []string    `json:"log,omitempty"`      // what was said in words, in case all else is lost
}

// talk is one conversation.
type talk struct {
	mind  *Mind
	brief computeruse.Brief
	kept  kept
}

// Next implements [computeruse.Talk].
func (t *talk) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	if in.Shot != nil {
		t.kept.Size = in.Shot.Size
	}
	said := slices.Clone(t.kept.Log)
	t.tell(in)
	res, err := t.ask(ctx, in.Final)
	var notices []string
	if err != nil && t.kept.Previous != "" && openai.IsLost(err) && ctx.Err() == nil {
		t.kept.Whole = true // it may be that nothing is ever kept there
		t.kept.Log = said
		t.anew("(The earlier part of this conversation is lost. What was said in words:)")
		t.resume(in)
		notices = []string{"the model's provider has lost the conversation so far; it goes on with what was said in words"}
		res, err = t.ask(ctx, in.Final)
	}
	if err != nil {
		return computeruse.Turn{}, err
	}
	turn, open, err := readTurn(res.Output)
	if err != nil {
		return computeruse.Turn{}, unreadable(t.mind.Name(), "output", err)
	}
	t.answered(res, turn, open)
	turn.Stop, turn.Usage, turn.Notices = res.Stop, res.Usage, notices
	if len(open) > 0 && res.Stop == llm.StopEnd {
		turn.Stop = llm.StopTools
	}
	return turn, nil
}

// tell takes in what the model is told next. A call that nobody has acknowledged
// cannot be answered; then the conversation begins anew without it.
func (t *talk) tell(in computeruse.Input) {
	if unacknowledged(in, t.kept.Open) {
		t.anew("(What was said so far, in words:)")
		t.resume(in)
		return
	}
	if len(t.kept.Items) > maxItems {
		t.anew("(The earlier part of this conversation is left out. What was said in words:)")
		t.resume(in)
		return
	}
	t.kept.Told = append(t.kept.Told, inputs(in, t.kept.Open)...)
	t.kept.Open = nil
	for _, s := range in.Says {
		t.log("told: " + s)
	}
}

// unacknowledged reports whether a call had a warning to which nobody has agreed.
func unacknowledged(in computeruse.Input, open []openCall) bool {
	outcomes, _ := byID(in)
	for _, c := range open {
		if len(c.Safety) > 0 && len(outcomes[c.ID].Acknowledged) < len(c.Safety) {
			return true
		}
	}
	return false
}

// anew drops the conversation but for what was said in words.
func (t *talk) anew(why string) {
	t.kept.Previous, t.kept.Items, t.kept.Told, t.kept.Open = "", nil, nil, nil
	if len(t.kept.Log) > 0 {
		t.kept.Told = []item{{Kind: kindMessage, Parts: []part{text(why + "\n" + strings.Join(t.kept.Log, "\n"))}}}
	}
}

// resume tells what is new to a conversation that knows no calls.
func (t *talk) resume(in computeruse.Input) {
	for _, o := range in.Outcomes {
		if about := aboutOutcome(o); about != "" {
			in.Says = append(in.Says, about)
		}
	}
	for _, r := range in.Results {
		in.Says = append(in.Says, "A tool answered: "+r.Text)
	}
	t.kept.Told = append(t.kept.Told, inputs(in, nil)...)
	for _, s := range in.Says {
		t.log("told: " + s)
	}
}

// ask sends what was told.
func (t *talk) ask(ctx context.Context, final bool) (openai.Response, error) {
	o := t.mind.opts
	detail := "original"
	if o.Dialect == DialectPreview {
		detail = ""
	}
	items := t.kept.Told
	if t.kept.Whole {
		items = thinned(append(slices.Clone(t.kept.Items), items...), o.Pictures)
	}
	wire := []any{}
	for _, i := range items {
		wire = append(wire, i.wire(detail))
	}
	no := false
	store := !t.kept.Whole
	req := client.CreateResponseRequest{
		Instructions: t.brief.System, Input: wire, Store: &store, ParallelToolCalls: &no,
		SafetyIdentifier: t.brief.EndUser, MaxOutputTokens: t.brief.MaxTokens,
		Tools: t.tools(),
	}
	if o.Client.Effort != "" || o.Client.Summary != "" {
		req.Reasoning = &client.ResponseReasoning{Effort: o.Client.Effort, Summary: o.Client.Summary}
	}
	if t.kept.Whole {
		if t.mind.model.Reasons() && o.Dialect != DialectPreview {
			req.Include = []client.ResponseInclude{client.ResponseIncludeReasoningEncryptedContent}
		}
	} else {
		req.PreviousResponseID = t.kept.Previous
	}
	if o.Dialect == DialectPreview {
		req.Truncation = client.ResponseTruncationAuto
	}
	if final {
		req.ToolChoice = "none"
	}
	return t.mind.model.Respond(ctx, req)
}

// answered takes in an answer.
func (t *talk) answered(res openai.Response, turn computeruse.Turn, open []openCall) {
	if t.kept.Whole {
		t.kept.Items = append(t.kept.Items, t.kept.Told...)
		for _, raw := range res.Output {
			t.kept.Items = append(t.kept.Items, item{Raw: slices.Clone(raw)})
		}
		t.kept.Items = thinned(t.kept.Items, t.mind.opts.Pictures)
	} else {
		t.kept.Previous = res.ID
	}
	t.kept.Told, t.kept.Open = nil, open
	if turn.Text != "" {
		t.log("you: " + turn.Text)
	}
	for _, c := range turn.Calls {
		var kinds []string
		for _, a := range c.Actions {
			kinds = append(kinds, string(a.Kind)) // without what was typed: it may be a password
		}
		t.log("you acted: " + strings.Join(kinds, ", "))
	}
	for _, c := range turn.Tools {
		t.log("you used: " + c.Name + " " + string(c.Input))
	}
}

// log keeps what was said in words, as far as there is room.
func (t *talk) log(line string) {
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > maxLogChars {
		line = string(r[:maxLogChars]) + "…"
	}
	t.kept.Log = append(t.kept.Log, line)
	if extra := len(t.kept.Log) - maxLog; extra > 0 {
		t.kept.Log = slices.Delete(t.kept.Log, 0, extra)
	}
}

// Memory implements [computeruse.Talk].
func (t *talk) Memory() (json.RawMessage, error) {
	k := t.kept
	k.Version = keptVersion
	k.Items, k.Told = thinned(k.Items, 0), thinned(k.Told, 0)
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}

func readKept(raw json.RawMessage) (kept, error) {
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return kept{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if k.Version != keptVersion {
		return kept{}, fmt.Errorf("read the stored conversation: version %d, not %d", k.Version, keptVersion)
	}
	return k, nil
}
