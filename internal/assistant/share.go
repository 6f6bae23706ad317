package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"clank/sessions"
)

// Tools that start and stop sharing a browser in a call.
const (
	shareTool   = "share_browser_session"
	unshareTool = "stop_video_share"
)

const nothingToShare = "There is no browser session of yours here to show yet. Ask for something first."

// sharePhrases match requests to start and stop sharing.
type sharePhrases struct{ share, unshare *regexp.Regexp }

var sharePatterns = sync.OnceValue(func() sharePhrases {
	const (
		please = `(?:please,? |can you |could you |bitte )?`
		us     = `(?: (?:me|us|everyone|everybody))?`
		what   = `(?: (?:it|this|that|(?:the|your) (?:page|browser|screen|session)))?`
		with   = `(?: (?:with|to) (?:me|us|everyone|everybody))?(?: here| now)?(?:,? please)?[ .!?]*$`
	)
	return sharePhrases{
		share: regexp.MustCompile(`(?i)^` + please + `(?:share|show)` + us + what + with),
		unshare: regexp.MustCompile(`(?i)^` + please + `(?:(?:stop|end|quit) (?:sharing|showing|the share)|unshare)` + us +
			what + with),
	}
})

// shareWithoutModel handles, without a model, requests about sharing a page in a call to which the person may share
// it. asked reports whether the prompt was such a request.
func (r *replyRun) shareWithoutModel(ctx context.Context, prompt string) (a Answer, asked bool, err error) {
	tool, words := shareTool, sharePatterns()
	switch {
	case words.unshare.MatchString(prompt):
		tool = unshareTool
	case !words.share.MatchString(prompt):
		return Answer{}, false, nil
	}
	r.offeredTools(ctx)
	t, ok := r.tools[tool]
	if !ok {
		return Answer{}, false, nil
	}
	input := map[string]string{}
	if tool == shareTool {
		s, ok := r.assistant.lastSession(ctx, r.turn.Origin)
		if !ok || s.State == sessions.SessionClosed {
			return Answer{Text: r.turn.Origin.Locale.T(nothingToShare)}, true, nil
		}
		input["session_id"] = s.ID
	}
	text, err := r.callForMessage(ctx, t, input)
	return Answer{Text: text}, true, err
}

// callForMessage calls a tool and returns its message for people.
func (r *replyRun) callForMessage(ctx context.Context, t sessions.Tool, input any) (string, error) {
	arguments, err := json.Marshal(input)
	if err != nil {
		return "", fmt.Errorf("use %s: %w", t.Name, err)
	}
	text, _, err := t.Call(ctx, r.turn.Origin, arguments)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("use %s: %w", t.Name, err)
	}
	var says struct {
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(text), &says) == nil && strings.TrimSpace(says.Message) != "" {
		return says.Message, nil
	}
	return "Done.", nil
}
