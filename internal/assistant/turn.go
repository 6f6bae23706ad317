package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// replyRun is one reply in progress.
type replyRun struct {
	assistant *Assistant
	turn      Turn
	model     llm.Model
	tools     map[string]sessions.Tool // other than browse
	usage     llm.Usage
	textSent  bool // text was passed to [Turn.OnText] in this round

	album    agent.Album           // images shown to the model
	question *agent.PersonQuestion // the question that ends the reply

	mu           sync.Mutex // guards the fields below
	watch        func(Progress)
	calls        int    // of browse
	toolUses     int    // calls of the other tools
	stopped      string // why a person stopped a browse; then no other one starts
	shown        []llm.Image
	view         *llm.Image               // the last screenshot that may be shown
	openSessions []string                 // sessions that can be resumed
	files        []sessions.File          // downloaded files
	lastText     string                   // of the last browse that ended with an answer
	sessionLocks map[string]chan struct{} // by session; holds one value while the session is in use
}

// converse alternates between model calls and tool calls until there is an answer.
func (r *replyRun) converse(ctx context.Context) (Answer, error) {
	req := llm.Request{
		System:    r.systemPrompt(ctx),
		Messages:  messagesOf(withFiles(r.turn.Lines, r.turn.Files), r.turn.Origin.User, r.model.Caps()),
		MaxTokens: maxTokens,
		EndUser:   "",
	}
	rounds := maxRounds
	if r.model.Caps().Tools {
		var more []llm.Tool
		more, rounds = r.offeredTools(ctx)
		req.Tools = append([]llm.Tool{browseTool}, more...)
	}
	chosen := false
	for round := 0; ; round++ {
		got, err := r.ask(ctx, req)
		if why, ok := r.budgetSpentText(err); ok {
			return r.answerBudgetSpent(why), nil
		}
		if err != nil {
			return Answer{}, err
		}
		calls := got.Calls()
		choosing := !chosen && onlyChoosesPictures(calls) // the first time does not count as a round
		if len(calls) == 0 || round == rounds && !choosing {
			return r.answer(got), nil
		}
		r.endSegment()
		results := r.callAll(ctx, calls)
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
		if r.question != nil {
			return r.answerAsking(got), nil
		}
		if choosing {
			chosen = true
			round--
		}
		if round == rounds-1 {
			results.Parts = append(results.Parts, llm.Part{Text: lastRoundNote})
		}
		req.Messages = append(req.Messages, got.Message, results)
	}
}

// onlyChoosesPictures reports whether calls do nothing but select the images of the answer.
func onlyChoosesPictures(calls []llm.ToolCall) bool {
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c llm.ToolCall) bool {
		return c.Name != agent.ToolShowPictures
	})
}

// modelTimeout bounds each model call.
const modelTimeout = 2 * time.Minute

// ask calls the model once, within modelTimeout.
func (r *replyRun) ask(ctx context.Context, req llm.Request) (llm.Reply, error) {
	asked, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	got, err := r.model.Generate(asked, req, r.textHandler(ctx))
	r.usage = r.usage.Add(got.Usage)
	switch {
	case ctx.Err() != nil:
		return got, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return got, &llm.Error{
			Kind: llm.ErrTimeout, Model: r.model.Name(), Err: err,
			Message: fmt.Sprintf("no answer within %s", modelTimeout), Hint: "please try again",
		}
	case err != nil:
		return got, fmt.Errorf("ask for an answer: %w", err)
	}
	return got, nil
}

// textHandler returns a handler that passes on the model's text until ctx ends; nil if there is no listener.
func (r *replyRun) textHandler(ctx context.Context) func(llm.Delta) {
	if r.turn.OnText == nil {
		return nil
	}
	return func(d llm.Delta) {
		if d.Text == "" || ctx.Err() != nil {
			return
		}
		r.textSent = r.textSent || strings.TrimSpace(d.Text) != ""
		r.turn.OnText(TextChunk{Text: d.Text})
	}
}

// endSegment tells the listener that the text so far is complete.
func (r *replyRun) endSegment() {
	if r.textSent {
		r.turn.OnText(TextChunk{Complete: true})
	}
	r.textSent = false
}

// answer turns the model's last text into the answer.
func (r *replyRun) answer(got llm.Reply) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, loc := strings.TrimSpace(got.Text()), r.turn.Origin.Locale
	if text != "" {
		rest := stopNote(loc, text, got.Stop)
		a := r.complete(text + rest)
		if r.textSent {
			a.Remainder, a.Truncated = rest, rest != ""
		}
		return a
	}
	switch {
	case r.stopped != "":
		text = loc.Sentence(r.stopped)
	case r.lastText != "":
		text = r.lastText
	case got.Stop == llm.StopRefused || got.Stop == llm.StopFilter:
		text = loc.T("The model declined to answer that.")
	case len(r.shown) == 0 && len(got.Calls()) > 0:
		text = loc.T("The model gave no answer, only calls that could not be followed. Please try again, or choose " +
			"another model.")
	case len(r.shown) == 0:
		text = loc.T("The model had nothing to say. Please put it another way.")
	}
	return r.complete(text)
}

// stopNote returns why an answer is incomplete; empty if it is complete.
func stopNote(loc i18n.Locale, text string, why llm.StopReason) string {
	switch {
	case why == llm.StopLength:
		return "\n\n" + loc.T("(The answer grew too long and ends here.)")
	case why == llm.StopFilter:
		return "\n\n" + loc.T("(The rest was withheld by the provider of the model.)")
	case why == llm.StopRefused && !strings.ContainsAny(text[len(text)-1:], ".!?)"): // in the middle of a sentence
		return "\n\n" + loc.T("(The model declined to go on.)")
	}
	return ""
}

// answerBudgetSpent returns the results so far as the answer, and why there is no more, when the budget does not
// allow another model call.
func (r *replyRun) answerBudgetSpent(why string) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete(strings.TrimSpace(r.lastText + "\n\n" + why))
}

// complete returns an answer with text and the results of the browses. The caller holds the lock, or nothing else is
// running.
func (r *replyRun) complete(text string) Answer {
	a := Answer{
		Text: text, Remainder: text, Truncated: r.textSent, Images: r.shown, Sessions: r.openSessions,
		Files: r.files, Usage: r.usage,
	}
	a.Images = r.album.Chosen(a.Images)
	if len(a.Images) == 0 && !r.album.Decided() {
		a.View = r.view
	}
	return a
}

// callAll makes the calls and returns their results in order: browses run in parallel, other tools one after another.
func (r *replyRun) callAll(ctx context.Context, calls []llm.ToolCall) llm.Message {
	outcomes := make([]callResult, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		n, why := r.numberCall(c)
		switch {
		case why != "":
			outcomes[i] = refusedCall(why)
		case c.Name == browseTool.Name:
			wg.Go(func() { outcomes[i] = r.browse(ctx, n, c) })
		default:
			outcomes[i] = r.callTool(ctx, c)
		}
	}
	wg.Wait()
	return r.results(calls, outcomes)
}

// numberCall assigns a number to a call, or returns why it is not made.
func (r *replyRun) numberCall(c llm.ToolCall) (n int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.tools[c.Name]
	switch {
	case c.Name != browseTool.Name && !known:
		return 0, fmt.Sprintf("there is no tool %q; there is %s", c.Name, strings.Join(r.toolNames(), ", "))
	case r.stopped != "":
		return 0, "not done: " + r.stopped + ". Do not try again; tell the person that it was stopped."
	case known && r.toolUses == maxUses:
		return 0, fmt.Sprintf("not done: a reply can make %d tool calls. Answer with what you have.", maxUses)
	case known:
		r.toolUses++
		return 0, ""
	case r.calls == maxCalls:
		return 0, fmt.Sprintf("not done: a reply can make %d browse calls. Answer with what you have.", maxCalls)
	}
	r.calls++
	return r.calls, ""
}

// results builds the message with the results for the model, with images if the model has vision.
func (r *replyRun) results(calls []llm.ToolCall, outcomes []callResult) llm.Message {
	caps := r.model.Caps()
	msg := llm.Message{Role: llm.RoleUser}
	var pictures []llm.Part
	left := maxImages
	for i, o := range outcomes {
		res := &llm.ToolResult{ID: calls[i].ID, Text: o.text, IsError: o.failed}
		first := 0
		for n, im := range o.images {
			if number := r.album.Add(im); n == 0 {
				first = number
			}
		}
		seen := o.images[:min(len(o.images), left)]
		left -= len(seen)
		for _, im := range seen {
			switch {
			case caps.ToolImages:
				res.Images = append(res.Images, im)
			case caps.Vision:
				pictures = append(pictures, llm.Part{Image: &im})
			}
		}
		if len(o.images) > 0 {
			res.Text += "\n\n" + imageNote(o, first, len(seen), caps)
		}
		msg.Parts = append(msg.Parts, llm.Part{Result: res})
	}
	msg.Parts = append(msg.Parts, pictures...)
	return msg
}

// reportProgress passes on an event, one at a time.
func (r *replyRun) reportProgress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch != nil {
		r.watch(p)
	}
}

// collectBrowse stores the results of a browse for the answer. view is its last screenshot, or nil.
func (r *replyRun) collectBrowse(rec sessions.TaskRecord, view *llm.Image, show bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if show {
		if view != nil {
			r.view = view
		}
		r.shown = append(r.shown, rec.Images[:min(len(rec.Images), maxShown-len(r.shown))]...)
	}
	r.files = append(r.files, rec.Downloads...)
	if rec.Answer != "" {
		r.lastText = rec.Answer
	}
	r.openSessions = slices.DeleteFunc(r.openSessions, func(id string) bool { return id == rec.SessionID })
	if rec.SessionID != "" && !rec.Closed {
		r.openSessions = append(r.openSessions, rec.SessionID)
	}
}

// lockSession serializes calls for the same session. It waits until ctx ends.
func (r *replyRun) lockSession(ctx context.Context, session string) (done func(), err error) {
	if session == "" {
		return func() {}, nil
	}
	r.mu.Lock()
	if r.sessionLocks == nil {
		r.sessionLocks = make(map[string]chan struct{})
	}
	turn := r.sessionLocks[session]
	if turn == nil {
		turn = make(chan struct{}, 1)
		r.sessionLocks[session] = turn
	}
	r.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// budgetSpentText returns the message for people if err means that the budget allows no further model call: which
// budget is exhausted, when it resets, and who can raise it.
func (r *replyRun) budgetSpentText(err error) (text string, ok bool) {
	loc := r.turn.Origin.Locale
	spent, ok := agent.BudgetSpent(err)
	return loc.T("I may not go on.") + " " + loc.Sentence(spent), ok
}

// offeredTools returns the descriptions of the additional tools for this person, and how many rounds the model may
// use them.
func (r *replyRun) offeredTools(ctx context.Context) (out []llm.Tool, rounds int) {
	tools := r.assistant.Web.tools(r.turn.Origin)
	if rounds = maxRounds; len(tools) > 0 {
		rounds = maxReadRounds
	}
	if small := r.assistant.Host.Tools(ctx, r.turn.Origin); len(small) > 0 {
		tools, rounds = append(tools, small...), maxToolRounds
	}
	tools = append(tools, r.assistant.Host.SingleCallTools(ctx, r.turn.Origin)...)
	tools = append(tools, r.picturesTool())
	if r.turn.CanAsk {
		tools = append(tools, r.askTool())
	}
	r.tools = map[string]sessions.Tool{}
	for _, t := range tools {
		r.tools[t.Name] = t
		out = append(out, t.Tool)
	}
	return out, rounds
}

func (r *replyRun) toolNames() []string {
	return append([]string{browseTool.Name}, slices.Sorted(maps.Keys(r.tools))...)
}

// picturesTool returns the tool that selects the images of the answer.
func (r *replyRun) picturesTool() sessions.Tool {
	call := func(ctx context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
		var in struct {
			Pictures agent.PictureNames `json:"pictures"`
			Captions []string           `json:"captions"`
		}
		if err := decodeStrict(input, &in); err != nil {
			return "", nil, err
		}
		none := func(context.Context, string) (llm.Image, error) {
			return llm.Image{}, errors.New("there is no such picture")
		}
		told, err := r.album.Choose(ctx, in.Pictures, in.Captions, none)
		return told, nil, err
	}
	return sessions.Tool{Tool: agent.ShowPicturesTool("the numbers of pictures in results of tools"), Call: call}
}

// callTool calls one of the additional tools.
func (r *replyRun) callTool(ctx context.Context, c llm.ToolCall) callResult {
	if c.Malformed != "" {
		return refusedCall("the input is not a JSON object")
	}
	text, images, err := r.tools[c.Name].Call(ctx, r.turn.Origin, c.Input)
	if err != nil {
		return refusedCall(err.Error())
	}
	return callResult{text: text, images: images}
}
