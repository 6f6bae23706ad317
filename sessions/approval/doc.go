// Package approval is the queue of questions to people before something is done in their name that is hard to undo.
// Each question is asked once; the first answer counts; no answer in time is a refusal.
//
// Front ends follow the queue, show questions and deliver answers. The package does not know what an action would
// cause. Only words that a person typed for this task count as theirs. Nothing outlives the process.
package approval
