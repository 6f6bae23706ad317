package dashboard

import (
	"net/http"
	"slices"

	"clank/dashboard/api"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// mayRead reports whether v may read the contents of a task with origin o. This is the single rule for all that shows
// tasks: a private task is readable only by the person who asked for it, not even by operators.
func (v visitor) mayRead(o sessions.Origin) bool {
	return (!o.Private || v.asked(o)) && v.sight().Includes(o)
}

// asked reports whether v is the person of o. Operators without a Discord account count as one person.
func (v visitor) asked(o sessions.Origin) bool {
	if o.User != "" || o.Kind == sessions.FromDiscord {
		return v.id != "" && v.id == o.User
	}
	return v.role == RoleOperator && v.id == "" && (o.Kind == sessions.FromDashboard || o.Kind == sessions.FromTerminal)
}

// privately returns o as a private origin of v, an operator.
func (v visitor) privately(o sessions.Origin) sessions.Origin {
	o.Private, o.User, o.UserName = true, v.id, v.name
	return o
}

// readableTask returns the task that a part of the path names, if the visitor may read its contents.
func (s *Server) readableTask(r *http.Request, part string) (sessions.TaskRecord, error) {
	t, err := s.seenTask(r, part)
	if err != nil {
		return t, err
	}
	if !visitorOf(r).mayRead(t.Origin) {
		return t, refuse(http.StatusForbidden, "that was asked privately: what came of it is for the person who asked")
	}
	return t, nil
}

// shownRecord returns r without image data and, if it may not be read, without its contents.
func shownRecord(r sessions.TaskRecord, mayRead bool) sessions.TaskRecord {
	if !mayRead {
		r.Prompt, r.Images, r.Reason, r.Files, r.Downloads, r.Late = api.PrivateText, nil, "", nil, nil, nil
		if r.Answer != "" {
			r.Answer = api.PrivateText
		}
		return r
	}
	r.Images = withoutImageData(r.Images)
	r.Files, r.Downloads = withoutPaths(r.Files), withoutPaths(r.Downloads)
	return r
}

// shownStep returns a step without image data and, if it may not be read, without its action and what the page
// showed.
func shownStep(st sessions.Step, mayRead bool) sessions.Step {
	if !mayRead {
		return sessions.Step{
			N: st.N, Kind: st.Kind, Phase: st.Phase, Label: api.PrivateText, Failed: st.Failed,
			Usage: st.Usage, At: st.At,
		}
	}
	st.Images = withoutImageData(st.Images)
	if st.View != nil {
		st.View = &llm.Image{MediaType: st.View.MediaType}
	}
	return st
}

// shownQuestion returns q and, if it may not be read, without its contents.
func shownQuestion(q approval.Question, mayRead bool) approval.Question {
	if !mayRead {
		q.Text, q.Detail, q.Origin, q.Session, q.Link = "Do something that was asked for privately", "", "", "", ""
		q.Choices = nil
	}
	return q
}

func shownSteps(steps []sessions.Step, mayRead bool) []sessions.Step {
	out := make([]sessions.Step, len(steps))
	for i, st := range steps {
		out[i] = shownStep(st, mayRead)
	}
	return out
}

// withoutPaths returns files without their paths on this machine.
func withoutPaths(list []sessions.File) []sessions.File {
	list = slices.Clone(list)
	for i := range list {
		list[i].Path = ""
	}
	return list
}

func withoutImageData(images []llm.Image) []llm.Image {
	var out []llm.Image
	for _, im := range images {
		out = append(out, llm.Image{MediaType: im.MediaType, Caption: im.Caption})
	}
	return out
}
