// Package approval is the queue of questions to people before something is done in their name that is hard
// to undo. Each question is asked once; the first answer counts; silence is a no.
//
// Front ends follow the queue, show questions and bring answers. It does not know what an action would set
// off. Only words that a person typed for this task count as theirs. It keeps nothing beyond the process.
package approval
