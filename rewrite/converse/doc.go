// Package converse writes requests in the dialect of Amazon Bedrock's Converse
// and ConverseStream, and reads its replies. No client speaks it.
package converse
