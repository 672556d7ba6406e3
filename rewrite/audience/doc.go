// Package audience decides what of a tool's result is for whom. A tool may say of
// each block of its result, in annotations, whether it is for the model, for people
// or for both; what is for people alone never reaches a provider. It reads JSON and
// knows no dialect: each dialect says where the results in a request stand and how a
// block of its own is written, and applies the edits that are decided here.
package audience
