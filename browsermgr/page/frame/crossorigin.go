package frame

import (
	"context"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// CrossOriginFrames returns which of the given frames in a session's process our scripts cannot reach from the parent
// document because their origin differs. Only Chromium's access check can tell: a URL shows neither whether a document
// is sandboxed nor whose origin it inherited. A frame that goes away meanwhile is omitted.
func CrossOriginFrames(ctx context.Context, s *cdp.Session, ids []proto.PageFrameID) map[proto.PageFrameID]bool {
	worlds := make([]*cdp.Call, len(ids))
	for i, id := range ids {
		worlds[i] = s.Begin(proto.PageCreateIsolatedWorld{FrameID: id, WorldName: worldName, GrantUniveralAccess: true})
	}
	answers := make([]*cdp.Call, len(ids))
	for i, call := range worlds {
		var made proto.PageCreateIsolatedWorldResult
		if call.Wait(ctx, &made) == nil {
			answers[i] = s.Begin(proto.RuntimeEvaluate{
				Expression: "frameElement === null", ContextID: made.ExecutionContextID,
				ReturnByValue: true,
			})
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
