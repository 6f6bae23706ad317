package dashboard

import (
	"slices"

	"clank/dashboard/api"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// publicRecord returns r without the data of its pictures, and without what is nobody else's business if it is private.
func publicRecord(r sessions.TaskRecord) sessions.TaskRecord {
	if r.Origin.Private {
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

// publicStep returns a step of a task without the data of its pictures; of a private one, that there was one.
func publicStep(of sessions.TaskRecord, st sessions.Step) sessions.Step {
	if of.Origin.Private {
		return redactStep(st)
	}
	st.Images = withoutImageData(st.Images)
	if st.View != nil {
		st.View = &llm.Image{MediaType: st.View.MediaType}
	}
	return st
}

// redactStep returns st without what it did and what the page showed.
func redactStep(st sessions.Step) sessions.Step {
	return sessions.Step{N: st.N, Kind: st.Kind, Phase: st.Phase, Label: api.PrivateText, Failed: st.Failed, Usage: st.Usage, At: st.At}
}

// publicQuestion returns q without what it is about if its task is private.
func publicQuestion(q approval.Question) approval.Question {
	if q.Private {
		q.Text, q.Detail, q.Origin, q.Session, q.Link = "Do something that was asked for privately", "", "", "", ""
		q.Choices = nil
	}
	return q
}

func publicSteps(of sessions.TaskRecord, steps []sessions.Step) []sessions.Step {
	out := make([]sessions.Step, len(steps))
	for i, st := range steps {
		out[i] = publicStep(of, st)
	}
	return out
}

// withoutPaths returns files without where they are on this machine.
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
