package server

import (
	"context"
	"strings"

	"clank/sessions"
	"clank/sessions/approval"
)

// newApprover makes who asks people, as the settings have it now.
func (a *Server) newApprover() *Approver {
	return &Approver{
		Approvals: &approval.Queue{
			Rule: func(c approval.Class) approval.Rule {
				return approval.Rule(a.Settings.Current().Approval.Rule(string(c)))
			},
			Wait:   a.approvalTimeout,
			Logger: a.logger,
		},
		Settings: a.Settings.Current,
		RunningTasks: func(ctx context.Context) ([]sessions.TaskRecord, error) {
			return a.Sessions.Tasks(ctx, sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskRunning}})
		},
	}
}

// CheckDownloadSource judges where a download comes from. What a page made itself it may offer.
func (a *Server) CheckDownloadSource(address string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme == "data" || scheme == "blob" {
		return nil
	}
	return a.gate.CheckWithoutDNS(address)
}
