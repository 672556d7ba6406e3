package splice

// Check is the fast check alone, whose wrong refusals Valid would hide.
var Check = check
