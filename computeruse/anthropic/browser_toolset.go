package anthropic

import (
	"encoding/json"
	"errors"

	"clank/computeruse"
)

// browserActions returns the actions of a member of the browser toolset on the page at url.
func browserActions(member string, in memberInput, url string) ([]computeruse.Action, error) {
	at, ref, err := in.Target.place()
	if err != nil {
		return nil, err
	}
	if click, ok := clicks[member]; ok {
		if at == nil && ref == "" {
			return nil, errors.New("where? there is no target")
		}
		click.Kind, click.At, click.Ref, click.Held = computeruse.ActClick, at, ref, heldKeys(in.Modifiers)
		return singleAction(click)
	}
	switch member {
	case "navigate":
		return navigateActions(in.URL, url)
	case "hover", "mouse_move":
		if at == nil && ref == "" {
			return nil, errors.New("where to? there is no target")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActMove, At: at, Ref: ref, Held: heldKeys(in.Modifiers)})
	case "left_mouse_down":
		return singleAction(computeruse.Action{Kind: computeruse.ActDown, At: at})
	case "left_mouse_up":
		return singleAction(computeruse.Action{Kind: computeruse.ActUp, At: at})
	case "left_click_drag":
		from, _, err := in.From.place()
		if err != nil {
			return nil, err
		}
		return dragActions(from, at, nil)
	case "scroll":
		return scrollActions(in, at, nil)
	case "scroll_to":
		if ref == "" {
			return nil, errors.New("scroll to what? there is no ref")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActReveal, Ref: ref})
	case "form_input":
		if ref == "" {
			return nil, errors.New("which field? there is no ref")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActFill, Ref: ref, Text: in.value()})
	}
	return sharedActions(member, in)
}

func navigateActions(to, url string) ([]computeruse.Action, error) {
	switch to {
	case "":
		return nil, errors.New("where to? there is no url")
	case "back":
		return singleAction(computeruse.Action{Kind: computeruse.ActBack})
	case "forward":
		return singleAction(computeruse.Action{Kind: computeruse.ActForward})
	case "reload":
		if url == "" {
			return nil, errors.New("there is no page to load again")
		}
		to = url
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActNavigate, URL: to})
}

// browserTool returns the tool of the loop that a member of the browser toolset stands for, with its input; "" for
// others.
func browserTool(member string, in memberInput) (name string, arguments json.RawMessage) {
	switch member {
	case "get_page_text":
		return toolReadText, json.RawMessage("{}")
	case "read_page":
		return toolReadPage, jsonObject(map[string]any{"interactive": in.Filter == "interactive"})
	case "list_tabs":
		return toolListTabs, json.RawMessage("{}")
	case "new_tab":
		return toolOpenTab, jsonObject(map[string]any{"url": in.URL})
	case "switch_tab":
		return toolSelectTab, jsonObject(map[string]any{"tab": in.TabID})
	case "close_tab":
		return toolCloseTab, jsonObject(map[string]any{"tab": in.TabID})
	}
	return "", nil
}

// jsonObject returns the JSON of a value made here, which always marshals.
func jsonObject(v map[string]any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}
