package browsermgr

import "clank/browsermgr/page"

// ReadAction reads the arguments of a page action as [Window.Act] does.
func ReadAction(kind string, args map[string]any) (page.Action, error) {
	fields, err := actionFields(kind)
	if err != nil {
		return page.Action{}, err
	}
	vals, err := readArgs(kind, fields, args)
	if err != nil {
		return page.Action{}, err
	}
	return vals.action(kind)
}
