package llmtest

import "maps"

// events returns the events that the Responses API sends for a reply, in its order.
func (a responsesAPI) events(req Request, r Reply, n int) []object {
	whole := a.whole(req, r, n)
	log := &eventLog{}
	log.add("response.created", object{"response": responseObject(req, n, "in_progress")})
	log.add("response.in_progress", object{"response": responseObject(req, n, "in_progress")})
	items, _ := whole["output"].([]object)
	for i, item := range items {
		log.item(i, item)
	}
	last := "response.completed"
	if whole["status"] == "incomplete" {
		last = "response.incomplete"
	}
	log.add(last, object{"response": whole})
	return log.events
}

// eventLog numbers events.
type eventLog struct{ events []object }

func (l *eventLog) add(kind string, fields object) {
	e := object{"type": kind, "sequence_number": len(l.events)}
	maps.Copy(e, fields)
	l.events = append(l.events, e)
}

func (l *eventLog) item(i int, item object) {
	begun := maps.Clone(item)
	at := func(more object) object {
		more["output_index"], more["item_id"] = i, item["id"]
		return more
	}
	switch item["type"] {
	case "message":
		begun["status"], begun["content"] = "in_progress", []any{}
	case "function_call":
		begun["status"], begun["arguments"] = "in_progress", ""
	case "reasoning":
		begun["summary"] = []any{}
	}
	l.add("response.output_item.added", object{"output_index": i, "item": begun})
	switch item["type"] {
	case "message":
		content, _ := item["content"].([]object)
		for c, part := range content {
			l.part(c, part, at)
		}
	case "function_call":
		args, _ := item["arguments"].(string)
		for _, p := range splitText(args) {
			l.add("response.function_call_arguments.delta", at(object{"delta": p}))
		}
		l.add("response.function_call_arguments.done", at(object{"name": item["name"], "arguments": args}))
	case "reasoning":
		summary, _ := item["summary"].([]object)
		for s, part := range summary {
			l.summary(s, part, at)
		}
	}
	l.add("response.output_item.done", object{"output_index": i, "item": item})
}

func (l *eventLog) part(c int, part object, at func(object) object) {
	if text, ok := part["text"].(string); ok {
		l.add("response.content_part.added", at(object{"content_index": c, "part": object{
			"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{},
		}}))
		for _, p := range splitText(text) {
			l.add("response.output_text.delta", at(object{"content_index": c, "delta": p, "logprobs": []any{}}))
		}
		l.add("response.output_text.done", at(object{"content_index": c, "text": text, "logprobs": []any{}}))
	} else {
		refusal, _ := part["refusal"].(string)
		l.add("response.content_part.added", at(object{"content_index": c, "part": object{"type": "refusal", "refusal": ""}}))
		for _, p := range splitText(refusal) {
			l.add("response.refusal.delta", at(object{"content_index": c, "delta": p}))
		}
		l.add("response.refusal.done", at(object{"content_index": c, "refusal": refusal}))
	}
	l.add("response.content_part.done", at(object{"content_index": c, "part": part}))
}

func (l *eventLog) summary(s int, part object, at func(object) object) {
	text, _ := part["text"].(string)
	l.add("response.reasoning_summary_part.added",
		at(object{"summary_index": s, "part": object{"type": "summary_text", "text": ""}}))
	for _, p := range splitText(text) {
		l.add("response.reasoning_summary_text.delta", at(object{"summary_index": s, "delta": p}))
	}
	l.add("response.reasoning_summary_text.done", at(object{"summary_index": s, "text": text}))
	l.add("response.reasoning_summary_part.done", at(object{"summary_index": s, "part": part}))
}
