/**
 * Shapes of events that streams of models have, as {@link toColumns} makes them: the dictionary that columns are compressed with, so
 * that a stream need not say them. It never changes: what is recorded is read with it. Another one needs another encoding.
 */
const SHAPES = [
  'data: {"id":"·","object":"·","created":·,"model":"·","service_tier":"·","system_fingerprint":"·","choices":[{"index":·,"delta":{"role":"·","content":"·","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"·"}\n\n',
  'data: {"id":"·","object":"·","created":·,"model":"·","choices":[{"index":·,"delta":{"role":"·","content":"·"},"finish_reason":null}]}\n\n',
  'data: {"id":"·","object":"·","created":·,"model":"·","choices":[{"index":·,"delta":{"tool_calls":[{"index":·,"id":"·","type":"·","function":{"name":"·","arguments":"·"}}]},"logprobs":null,"finish_reason":null}]}\n\n',
  'data: {"id":"·","object":"·","created":·,"model":"·","choices":[{"index":·,"delta":{"tool_calls":[{"index":·,"function":{"arguments":"·"}}]},"logprobs":null,"finish_reason":null}]}\n\n',
  'data: {"id":"·","object":"·","created":·,"model":"·","choices":[{"index":·,"delta":{},"logprobs":null,"finish_reason":"·"}]}\n\n',
  'data: {"id":"·","object":"·","created":·,"model":"·","choices":[],"usage":{"prompt_tokens":·,"completion_tokens":·,"total_tokens":·,"prompt_tokens_details":{"cached_tokens":·,"audio_tokens":·},"completion_tokens_details":{"reasoning_tokens":·,"audio_tokens":·,"accepted_prediction_tokens":·,"rejected_prediction_tokens":·}}}\n\n',
  'data: [DONE]\n\n',
  'event: response.created\ndata: {"type":"·","sequence_number":·,"response":{"id":"·","object":"·","created_at":·,"status":"·","background":false,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"model":"·","output":[],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":true,"temperature":·,"text":{"format":{"type":"·"}},"tool_choice":"·","tools":[],"top_p":·,"truncation":"·","usage":null,"user":null,"metadata":{}}}\n\n',
  'event: response.in_progress\nevent: response.output_item.added\ndata: {"type":"·","sequence_number":·,"output_index":·,"item":{"id":"·","type":"·","status":"·","content":[],"role":"·","call_id":"·","name":"·","arguments":"·"}}\n\n',
  'event: response.content_part.added\ndata: {"type":"·","sequence_number":·,"item_id":"·","output_index":·,"content_index":·,"part":{"type":"·","annotations":[],"logprobs":[],"text":"·"}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"·","sequence_number":·,"item_id":"·","output_index":·,"content_index":·,"delta":"·","logprobs":[],"obfuscation":"·"}\n\n',
  'event: response.function_call_arguments.delta\ndata: {"type":"·","sequence_number":·,"item_id":"·","output_index":·,"delta":"·"}\n\n',
  'event: response.output_text.done\nevent: response.content_part.done\nevent: response.output_item.done\nevent: response.completed\n"usage":{"input_tokens":·,"input_tokens_details":{"cached_tokens":·},"output_tokens":·,"output_tokens_details":{"reasoning_tokens":·},"total_tokens":·}',
  'event: message_start\ndata: {"type":"·","message":{"id":"·","type":"·","role":"·","model":"·","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":·,"cache_creation_input_tokens":·,"cache_read_input_tokens":·,"output_tokens":·,"service_tier":"·"}}}\n\n',
  'event: content_block_start\ndata: {"type":"·","index":·,"content_block":{"type":"·","text":"·","thinking":"·","signature":"·","id":"·","name":"·","input":{}}}\n\n',
  'event: ping\ndata: {"type": "·"}\n\n',
  'event: content_block_delta\ndata: {"type":"·","index":·,"delta":{"type":"·","text":"·"}}\n\n',
  'event: content_block_delta\ndata: {"type":"·","index":·,"delta":{"type":"·","partial_json":"·"}}\n\n',
  'event: content_block_delta\ndata: {"type":"·","index":·,"delta":{"type":"·","thinking":"·"}}\n\n',
  'event: content_block_stop\ndata: {"type":"·","index":·}\n\n',
  'event: message_delta\ndata: {"type":"·","delta":{"stop_reason":"·","stop_sequence":null},"usage":{"input_tokens":·,"output_tokens":·}}\n\n',
  'event: message_stop\ndata: {"type":"·"}\n\n',
  'chatcmpl-chat.completion.chunkassistantstoptool_callsfunctiondefaultmsg_resp_responsein_progressmessageoutput_textautodisabledcompletedend_turntool_usetext_deltainput_json_deltathinking_deltasignature_deltatextmessage_startcontent_block_startpingcontent_block_deltacontent_block_stopmessage_deltamessage_stopstandard',
];

/** The shapes as columns have them: a zero byte where a value stands. */
export const EVENT_SHAPES: Uint8Array = Buffer.from(SHAPES.join('').replaceAll('·', '\0'), 'latin1');
