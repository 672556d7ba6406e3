// Package prompt is what the gateway has to ask people while it runs tools, and who
// answers: whether a tool may run, whether its result may go on, and what a tool
// itself wants to know. A prompt is data without wording. It waits in a Book until
// somebody answers it, or is decided at once by a policy where nobody can.
package prompt
