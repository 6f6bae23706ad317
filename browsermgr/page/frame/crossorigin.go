package frame

import (
	"context"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// CrossOriginFrames returns which of some frames of a session's process our scripts cannot enter from the document around them, since it is
// another origin's. Chromium tells it only in there: an address does not say whether a document was sandboxed, nor whose origin it
// inherited. A frame that goes away meanwhile is none of them.
func CrossOriginFrames(ctx context.Context, s *cdp.Session, ids []proto.PageFrameID) map[proto.PageFrameID]bool {
	worlds := make([]*cdp.Call, len(ids))
	for i, id := range ids {
		worlds[i] = s.Begin(proto.PageCreateIsolatedWorld{FrameID: id, WorldName: worldName, GrantUniveralAccess: true})
	}
	answers := make([]*cdp.Call, len(ids))
	for i, call := range worlds {
		var made proto.PageCreateIsolatedWorldResult
		if call.Wait(ctx, &made) == nil {
			answers[i] = s.Begin(proto.RuntimeEvaluate{Expression: "frameElement === null", ContextID: made.ExecutionContextID, ReturnByValue: true})
		}
	}
	apart := map[proto.PageFrameID]bool{}
	for i, call := range answers {
		var res EvaluateResult[bool]
		if call != nil && call.Wait(ctx, &res) == nil && res.Result.Value {
			apart[ids[i]] = true
		}
	}
	return apart
}
