package main

import (
	"fmt"

	"warmpath/rewrite/continuity"
)

// recognized is the state that the gateway would go on from, or why there is
// none. Reason is a word for tools and why a sentence for people.
type recognized struct {
	state       *continuity.State
	reason, why string
	assumes     []string
}

// recognize looks for the newer request's conversation as the gateway does: the
// longest history first that it has in common with a request which has been
// sent. Those are the older one and the turns that must have led to it.
func recognize(older, newer *continuity.Facts, able continuity.Abilities, read continuity.Reader) recognized {
	if !answers(newer.Messages) {
		return recognized{reason: "first_request",
			why: "a request without a reply in it is the first of a conversation of its own, which nothing is known of"}
	}
	common := 0
	for common < len(older.Messages) && common < len(newer.Messages) && older.Messages[common].Line() == newer.Messages[common].Line() {
		common++
	}
	none := recognized{reason: "another_history", why: fmt.Sprintf("its history is another: messages[%d] is not that of the older request", common)}
	choice := continuity.Choice{Facts: newer, Read: read}
	for sent := common; sent > 0; sent-- {
		if sent < len(older.Messages) && older.Messages[sent].Role != continuity.Assistant {
			continue
		}
		turn := *older
		turn.Messages = older.Messages[:sent]
		state := continuity.Begin("", nil, continuity.Fresh, &turn, able).Next
		proof, here := sealed(newer.Messages, sent)
		state.Sealed = proof >= 0
		if chosen := choice.Choose([]*continuity.State{state}, here); chosen != nil {
			found := recognized{state: chosen, assumes: []string{"the older request was sent as it stands, to Anthropic's own API"}}
			if sent < len(older.Messages) {
				found.assumes = append(found.assumes, fmt.Sprintf("its turn of %s had the same tools and system prompt", counted(sent, "message")))
			}
			if proof >= 0 {
				found.assumes = append(found.assumes, fmt.Sprintf("the provider made messages[%d] for it: that is how the gateway knows the conversation", proof))
			}
			return found
		}
		if none.reason != "another_history" {
			continue
		}
		if none = stranger(proof); proof >= 0 {
			none.assumes = []string{fmt.Sprintf("the provider made messages[%d] for the older request's conversation", proof)}
		}
	}
	return none
}

// stranger is a request over a history that another one has had, too.
func stranger(proof int) recognized {
	if proof < 0 {
		return recognized{reason: "unproven", why: "nothing in its history proves whose it is: no id of a call and no signature that only the provider can have made; " +
			"a name for the conversation in the header warmpath-conversation would prove it"}
	}
	return recognized{reason: "another_agent", why: "its system prompt has less than half in common with the older one: another role over the same history"}
}

// sealed gives the newest reply, up to the one that follows a number of
// messages, which holds what only the provider can have made, or -1; here says
// that it is that one.
func sealed(messages []continuity.Message, sent int) (proof int, here bool) {
	for i := min(sent, len(messages)-1); i >= 0; i-- {
		if m := &messages[i]; m.Role == continuity.Assistant && m.Seal.Len() > 0 {
			return i, i == sent
		}
	}
	return -1, false
}

func answers(messages []continuity.Message) bool {
	for i := range messages {
		if messages[i].Role == continuity.Assistant {
			return true
		}
	}
	return false
}
