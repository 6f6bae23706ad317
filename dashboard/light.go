package dashboard

import (
	"clank/consent"
	"clank/dashboard/wire"
	"clank/sessions"
)

// light returns r without the data of its pictures, and without what is nobody else's business if it is private.
func light(r sessions.Record) sessions.Record {
	if r.Origin.Private {
		r.Prompt, r.Images, r.Reason = wire.Hidden, nil, ""
		if r.Answer != "" {
			r.Answer = wire.Hidden
		}
		return r
	}
	r.Images = named(r.Images)
	return r
}

// lightStep returns a step of a task without the data of its pictures; of a private one, that there was one.
func lightStep(of sessions.Record, st sessions.Step) sessions.Step {
	if of.Origin.Private {
		return privately(st)
	}
	st.Images = named(st.Images)
	if st.View != nil {
		st.View = &sessions.Image{MediaType: st.View.MediaType}
	}
	return st
}

// privately returns st without what it did and what the page showed.
func privately(st sessions.Step) sessions.Step {
	return sessions.Step{N: st.N, Kind: st.Kind, Phase: st.Phase, Label: wire.Hidden, Failed: st.Failed, Usage: st.Usage, At: st.At}
}

// lightQuestion returns q without what it is about if its task is private.
func lightQuestion(q consent.Question) consent.Question {
	if q.Private {
		q.Text, q.Detail, q.Origin, q.Session = "Do something that was asked for privately", "", "", ""
	}
	return q
}

func lightSteps(of sessions.Record, steps []sessions.Step) []sessions.Step {
	out := make([]sessions.Step, len(steps))
	for i, st := range steps {
		out[i] = lightStep(of, st)
	}
	return out
}

func named(images []sessions.Image) []sessions.Image {
	var out []sessions.Image
	for _, im := range images {
		out = append(out, sessions.Image{MediaType: im.MediaType})
	}
	return out
}
