package console

import "warmpath/rewrite/continuity"

// meaning is a reason in plain words: what has happened, and what to do about it.
type meaning struct{ Title, Means, Advice string }

// meanings has every reason of a miss.
var meanings = map[continuity.Miss]meaning{
	continuity.ModelMiss: {"Another model",
		"The turn before went to another model. Each model has a cache of its own, so the conversation was processed again from its start.",
		"Stay with one model within a conversation, and give side tasks to another model in conversations of their own."},
	continuity.RouteMiss: {"Another provider or address",
		"The turn before went to another provider or address, whose cache this one cannot read.",
		"If this was a fallback, look at why the first provider failed. Otherwise keep one route for a conversation."},
	continuity.ToolsMiss: {"Tools changed",
		"The list of tools stands before everything else in the prompt, and it was another one than before.",
		"Offer the same tools from the first turn to the last, in the same order. In mode on, models that take directives are told of changes at the end instead."},
	continuity.SystemMiss: {"System prompt changed",
		"The system prompt stands before the conversation, and it was another one than before.",
		"Take dates, counters and lists of files out of it and into the newest message. In mode on, models that take directives are told of changes at the end instead."},
	continuity.RewrittenMiss: {"History rewritten",
		"The agent changed or left out messages that it had sent before, for example to make its context shorter.",
		"Shorten the context seldom and much at a time. Append rather than edit."},
	continuity.MessagesMiss: {"Messages written otherwise",
		"The agent sent the same messages as before in another spelling: other spaces, another order of members.",
		"Send replies back as they came. Leave --echoes on, so that the bytes first sent go out again."},
	continuity.ParamsMiss: {"Parameters changed",
		"Parameters that take part in the cache's key, such as thinking or the tool choice, were others than before.",
		"Keep them the same within a conversation."},
	continuity.BetasMiss: {"Betas changed",
		"The anthropic-beta header was another one than before, and it may be part of the cache's key.",
		"Send the same betas with each turn."},
	continuity.ExpiryMiss: {"Cache expired",
		"More time passed since the turn before than the cache lives.",
		"Where turns are minutes apart, ask for the cache of one hour (ttl 1h): it is written once and read often."},
	continuity.AwaitedMiss: {"Waited for a person",
		"The reply waited for a person for longer than the cache lives.",
		"Answer prompts sooner; this page shows them as they open. Or ask for the cache of one hour."},
	continuity.ColdMiss: {"First turn",
		"Nothing had been put into the cache yet: this is where a conversation begins.",
		"Nothing to do. Conversations that begin with the same tools and system prompt can share a cache."},
	continuity.ShortMiss: {"Prompt too short",
		"The prompt is shorter than the least that the model keeps in its cache.",
		"Nothing to do: so little costs little."},
	continuity.EpochMiss: {"Prefix begun anew",
		"The gateway could not go on with the bytes first sent: the changes were too many, its memory of them was lost, or the provider refused them.",
		"Now and then this is right. If it is often, look at the explain record, and at the store that the gateway uses."},
	continuity.UnexplainedMiss: {"Lost by the provider",
		"Nothing differs from the turn before, and the provider still read less than it had stored.",
		"Nothing in the requests is to blame. If it happens often, ask the provider, or route by a prompt_cache_key."},
	continuity.UnknownMiss: {"Not known",
		"The gateway does not know the turn before: it was restarted, or another node answered it.",
		"Share one store between nodes (--store), and compare again after a restart."},
}

// meaningOf is that of a reason by its name; a name of no reason stands for itself.
func meaningOf(reason string) meaning {
	if m, ok := meanings[continuity.Miss(reason)]; ok {
		return m
	}
	return meaning{Title: reason}
}

// culprits are those whose doing a miss can be, in plain words.
var culprits = map[string]meaning{
	"client":   {"the agent", "The agent sent something else than before, or sent it too late.", "The reasons say what to change in it."},
	"gateway":  {"warmpath", "The gateway itself broke the prefix. This should stay at none.", "Look at the explain records, and report it."},
	"provider": {"the provider", "The provider read less than it had stored, with the same bytes.", "Nothing to change in the agent."},
	"unknown":  {"not known", "The turn before is not known here.", "Usual after a restart."},
}
