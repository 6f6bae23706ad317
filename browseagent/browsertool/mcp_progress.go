package browsertool

import (
	"context"

	"clank/internal/untrusted"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressReporter tells a client how a task goes. A client that reads slowly misses
// lines once progressBacklog wait for it; it never holds up the task.
type progressReporter struct {
	lines chan string // nil if the client does not want to know
	done  chan struct{}
	quit  chan struct{}
}

const progressBacklog = 100

// startProgress begins to tell. end must be called.
func startProgress(ctx context.Context, req *mcp.CallToolRequest) *progressReporter {
	token := req.Params.GetProgressToken()
	if token == nil {
		return &progressReporter{}
	}
	p := &progressReporter{lines: make(chan string, progressBacklog), done: make(chan struct{}), quit: make(chan struct{})}
	go p.run(ctx, req.Session, token)
	return p
}

func (p *progressReporter) run(ctx context.Context, to *mcp.ServerSession, token any) {
	defer close(p.done)
	n := 0.0
	tell := func(line string) bool {
		n++
		return to.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: untrusted.CleanLine(line, maxProgressLine)}) == nil
	}
	for {
		select {
		case line := <-p.lines:
			if !tell(line) {
				return // the client is gone; the call's context tells the task
			}
		case <-p.quit:
			for len(p.lines) > 0 {
				if !tell(<-p.lines) {
					return
				}
			}
			return
		}
	}
}

// say passes a line on, in place of the oldest that waits if there is no room.
func (p *progressReporter) say(line string) {
	if p.lines == nil {
		return
	}
	for {
		select {
		case p.lines <- line:
			return
		default:
		}
		select {
		case <-p.lines:
		default:
		}
	}
}

// end returns when the last line is told, so that none comes after the answer.
func (p *progressReporter) end() {
	if p.lines == nil {
		return
	}
	close(p.quit)
	<-p.done
}
