package server

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/page/files"
	"clank/sessions"
	"clank/sessions/approval"
)

// tabOwners tells whose a tab is. A *browsermgr.Manager implements it.
type tabOwners interface {
	TabOwner(target string) (owner, profile string)
	TabModel(target string) string // caller of the model that uses a tab; see [ToolCallers]
}

// DownloadApprover asks people before it keeps a program that a model has downloaded. It also implements
// [browseagent.Consent] for the agent loop, so that nobody is asked twice about a download whose click they approved.
type DownloadApprover struct {
	Approver *Approver
	Tabs     tabOwners

	mu             sync.Mutex
	approvedClicks map[string]time.Time // time of approval, by session or caller of the tool
}

// clickApprovalLifetime is how long the approval of a click covers its download.
const clickApprovalLifetime = 10 * time.Minute

// Ask implements [browseagent.Consent].
func (p *DownloadApprover) Ask(ctx context.Context, s sessions.Session, t sessions.Task,
	q sessions.Question,
) (string, error) {
	by, err := p.Approver.Ask(ctx, s, t, q)
	if err == nil && slices.Contains(q.Classes, string(approval.ClassExecutable)) {
		p.recordApprovedClick(s.ID)
	}
	return by, err
}

func (p *DownloadApprover) recordApprovedClick(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.approvedClicks == nil {
		p.approvedClicks = map[string]time.Time{}
	}
	now := time.Now()
	maps.DeleteFunc(p.approvedClicks, func(_ string, at time.Time) bool { return now.Sub(at) >= clickApprovalLifetime })
	p.approvedClicks[session] = now
}

// callerKey is the key of a tool caller's approvals.
func callerKey(id string) string { return "caller " + id }

// takeApprovedClick reports whether an approved click covers the download, and uses it up. One click covers one
// download.
func (p *DownloadApprover) takeApprovedClick(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, clicked := p.approvedClicks[session]
	delete(p.approvedClicks, session)
	return clicked && time.Since(at) < clickApprovalLifetime
}

// ApproveDownload returns nil if a download may be kept. Downloads that cannot run are always allowed, and so are
// those of tabs without a session or model: a program of the operator controls them, and gets a warning. For the
// single steps of a model, it asks the person on whose behalf the model acts.
func (p *DownloadApprover) ApproveDownload(ctx context.Context, d files.Download) error {
	if !d.Executable {
		return nil
	}
	session, profile := p.Tabs.TabOwner(d.Target)
	caller := ""
	if session == "" {
		caller = p.Tabs.TabModel(d.Target)
	}
	switch {
	case session == "" && caller == "", session != "" && p.takeApprovedClick(session):
		return nil
	case caller != "" && p.takeApprovedClick(callerKey(caller)):
		return nil
	}
	const text = "Keep a file that may be a program"
	origin := ""
	if u, err := url.Parse(d.URL); err == nil {
		origin = u.Host
	}
	if caller != "" {
		return ToolApprover{Approver: p.Approver}.Ask(ctx, caller, profile, sessions.Question{
			Classes: []string{string(approval.ClassExecutable)}, Text: text, Detail: d.SuggestedFilename, Origin: origin,
		})
	}
	q := approval.Question{}
	list, err := p.Approver.runningTasks(ctx)
	if err != nil {
		return fmt.Errorf("find out who can be asked: %w", err)
	}
	for _, t := range list {
		if t.SessionID != session {
			continue
		}
		if slices.Contains(t.Allow, string(approval.ClassExecutable)) {
			return nil
		}
		q = questionFor(t.Origin)
		q.Task = t.ID
	}
	q.Class, q.Session, q.Profile = approval.ClassExecutable, session, profile
	q.Text, q.Detail, q.Origin = text, d.SuggestedFilename, origin
	_, err = p.Approver.Approvals.Ask(ctx, q)
	return err
}
