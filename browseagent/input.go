package browseagent

import (
	"bytes"
	"encoding/json"
	"errors"

	"clank/browsermgr/page/action/actiontable"
)

// toolArgs is a decoded input: strings, ints, bools and []string by field name.
type toolArgs map[string]any

func (a toolArgs) str(name string) string { return actiontable.Values(a).Text(name) }
func (a toolArgs) num(name string) int    { return actiontable.Values(a).Int(name) }
func (a toolArgs) flag(name string) bool  { return actiontable.Values(a).Bool(name) }

// decodeInput reads an input and checks it. Its error names the tool and the field, and is meant for the model. A null
// counts as absent.
func (t *tool) decodeInput(raw json.RawMessage) (toolArgs, error) {
	var given map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, errors.New(t.name + ": the input is not a JSON object")
		}
	}
	spec := actiontable.Spec{Kind: actiontable.Kind(t.name), Params: t.fields, Needs: t.needs}
	values, err := spec.Read(actiontable.Window, given)
	return toolArgs(values), err
}
