package question

// Name is what the model calls the tool that asks people.
const Name = "ask_user"

// Schema is that of the tool's arguments. It is loose on purpose: a strict one ends
// the turn of a model that has called it badly, and models whose output is held to a
// grammar lose the members that a schema lists in another order than theirs. What is
// to be written stands in the description, and Normalize reads what was written.
const Schema = `{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object"}}}}`

// Example is a call that is just as it should be, with a question of each kind.
const Example = `{"questions":[` +
	`{"kind":"choice","text":"Which database should the service use?","options":["PostgreSQL","SQLite"],"default":"PostgreSQL"},` +
	`{"kind":"multi","text":"Which checks should run before a merge?","options":[{"value":"unit","label":"Unit tests"},{"value":"lint","label":"Linter"}]},` +
	`{"kind":"text","text":"What is the service called?"},` +
	`{"kind":"confirm","text":"Should the old tables be dropped?","default":false}]}`

// Description is what the model is told of the tool. Models write what they have
// seen last, so it ends with the example.
const Description = `Ask the user one or more questions and wait for the answers. Use it when you cannot go on well without a decision or a fact that only the user has, and ask everything that you need in one call. Do not use it to ask for passwords or keys, or for leave to run a tool.

Each question has a kind and a text. The kinds: "choice" (one of the options), "multi" (any of the options), "text" (a text of the user's own) and "confirm" (yes or no). "choice" and "multi" have options, each a string or an object with a value and a label. A default is optional: one of the values, a list of them, a string, or true or false. Where nobody can be asked, the result says so.

Example of a whole call:
` + Example
