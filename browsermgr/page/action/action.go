package action

import "clank/browsermgr/page/action/actiontable"

// Action is one thing to do in a tab.
type Action = actiontable.Action

// Field is one entry of a fill.
type Field = actiontable.Field

// Kind names an action.
type Kind = actiontable.Kind
