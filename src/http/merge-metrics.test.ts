import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeMetrics } from './metrics.ts';

const PART = `# HELP a_seconds Time.
# TYPE a_seconds histogram
a_seconds_bucket{le="1",op="x"} 2
a_seconds_sum{op="x"} 0.5
a_seconds_count{op="x"} 2
# HELP b_bytes Memory.
# TYPE b_bytes gauge
b_bytes 7
`;

describe('merged metrics of several processes', () => {
  it('are grouped by family, each sample labelled with its process', () => {
    const merged = mergeMetrics([
      { process: 'api-1', text: PART },
      { process: 'api-2', text: PART.replace('b_bytes 7', 'b_bytes 9') },
    ]);
    assert.equal(
      merged,
      `# HELP docket_process_up 1 if the process returned its metrics.
# TYPE docket_process_up gauge
docket_process_up{process="api-1"} 1
docket_process_up{process="api-2"} 1
# HELP a_seconds Time.
# TYPE a_seconds histogram
a_seconds_bucket{process="api-1",le="1",op="x"} 2
a_seconds_sum{process="api-1",op="x"} 0.5
a_seconds_count{process="api-1",op="x"} 2
a_seconds_bucket{process="api-2",le="1",op="x"} 2
a_seconds_sum{process="api-2",op="x"} 0.5
a_seconds_count{process="api-2",op="x"} 2
# HELP b_bytes Memory.
# TYPE b_bytes gauge
b_bytes{process="api-1"} 7
b_bytes{process="api-2"} 9
`,
    );
  });

  it('report a process that returned none', () => {
    const merged = mergeMetrics([
      { process: 'api-1', text: 'b_bytes{} 7\n' },
      { process: 'worker-1', text: null },
    ]);
    assert.match(merged, /^docket_process_up\{process="worker-1"\} 0$/m);
    assert.match(merged, /^b_bytes\{process="api-1"\} 7$/m);
  });
});
