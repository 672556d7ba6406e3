// Package question is what is asked of people and what they answer, without a
// screen, a socket or a clock: what a model asks becomes questions, questions
// become a form of the Model Context Protocol and a form becomes questions, a
// person's answers are checked, by form or by typed lines, and the model is told
// what came of it. Whoever can show something to a person does the asking.
package question
