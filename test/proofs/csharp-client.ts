/**
 * Clients in C#, generated from both OpenAPI documents by NSwag, compiled by Mono and used on a real service. Shows that the documents are good for generators and languages that the project
 * itself does not use. Installs NSwag from the npm registry; needs Mono (`apt-get install mono-devel`).
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { docket, freePort, type Service, startService } from './fault-service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const NSWAG = 'nswag@14.7.1';
const CLIENTS = [
  { document: 'v1', namespace: 'Docket', name: 'DocketClient' },
  { document: 'admin', namespace: 'Docket.Admin', name: 'DocketAdminClient' },
] as const;

const PROGRAM = `
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading.Tasks;
using Docket;

static class Program {
  static void Main() { Run().GetAwaiter().GetResult(); }

  static async Task Run() {
    var http = new HttpClient();
    http.DefaultRequestHeaders.Authorization =
      new AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("DOCKET_KEY"));
    var url = Environment.GetEnvironmentVariable("DOCKET_URL");
    var docket = new DocketClient(http) { BaseUrl = url + "/api/v1", ReadResponseAsString = true };
    var body = new ObjectsCreateBody {
      TypeDefinitionId = "incident",
      Values = new Dictionary<string, object> { { "title", "Printer is out of toner" } },
    };
    var idempotencyKey = Guid.NewGuid().ToString();
    var made = (await docket.Objects_createAsync(body: body, idempotency_Key: idempotencyKey)).Data;
    var again = (await docket.Objects_createAsync(body: body, idempotency_Key: idempotencyKey)).Data;
    Console.WriteLine("repeated " + (made.Id == again.Id));
    var changes = new Dictionary<string, object> { { "title", "Printer works" } };
    var update = new ObjectsUpdateBody { ExpectedRevision = made.Revision, Changes = changes };
    var changed = (await docket.Objects_updateAsync(made.Id, body: update)).Data;
    Console.WriteLine("changed " + changed.Revision + " " + changed.Title + " " + changed.WorkflowState.Code);
    try {
      update.Changes = new Dictionary<string, object> { { "title", "Printer is gone" } };
      await docket.Objects_updateAsync(made.Id, body: update);
    } catch (ApiException refused) {
      Console.WriteLine("refused " + refused.StatusCode + " " + refused.Response.Contains("REVISION_CONFLICT"));
    }
    // The feed shows a change some time after its answer.
    var found = false;
    for (var i = 0; i < 100 && !found; i++) {
      found = (await docket.Feed_readAsync(limit: 10)).Data.Events.Any(one => one.ObjectId == made.Id);
      if (!found) await Task.Delay(100);
    }
    Console.WriteLine("feed " + found);
    var comment = new CommentsAddBody { Body = "Toner is on its way." };
    var added = (await docket.Comments_addAsync(made.Id, body: comment)).Data;
    var history = (await docket.Objects_historyAsync(made.Id)).Data;
    Console.WriteLine("history " + string.Join(" ", history.Select(one => one.Type)));
    var listed = (await docket.Objects_listAsync(typeId: "incident", pageSize: 10)).Data;
    Console.WriteLine("listed " + listed.Rows.Count + " " + listed.Rows.Single().Number);
    var admin = new Docket.Admin.DocketAdminClient(http) { BaseUrl = url + "/api/admin/v1" };
    var keys = (await admin.Keys_listAsync()).Data;
    Console.WriteLine("keys " + keys.Count + " " + keys.Single().Name + " " + (keys.Single().RevokedAt == null));
  }
}
`;

/** NSwag takes a property of any type, such as the old value in the history, for one that is never null. */
const SETTINGS = `
using System.Reflection;
using Newtonsoft.Json;
using Newtonsoft.Json.Serialization;

namespace Docket {
  class NullsAllowed : DefaultContractResolver {
    protected override JsonProperty CreateProperty(MemberInfo member, MemberSerialization serialization) {
      var property = base.CreateProperty(member, serialization);
      if (property.PropertyType == typeof(object)) property.Required = Required.Default;
      return property;
    }
  }

  partial class DocketClient {
    static partial void UpdateJsonSerializerSettings(JsonSerializerSettings settings) {
      settings.ContractResolver = new NullsAllowed();
    }
  }
}
`;

describe('clients generated in C#', () => {
  let folder: string;
  let service: Service;
  let env: Record<string, string>;

  before(async () => {
    assert.equal(spawnSync('mcs', ['--version']).status, 0, 'Mono is not installed: apt-get install mono-devel');
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-csharp-')));
    await writeFile(path.join(folder, 'package.json'), '{"name":"generators","private":true}');
    const own = { DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: String(await freePort()) };
    const install = run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', NSWAG], { cwd: folder });
    [service] = await Promise.all([startService(own), install]);
    const made = await docket(
      'keys create --owner admin --name csharp --scopes all,admin:manage --json'.split(' '),
      own,
    );
    env = { DOCKET_URL: service.url, DOCKET_KEY: (JSON.parse(made.stdout) as { key: string }).key };
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('are generated from both documents, compile, and work on a real service', async () => {
    const binaries = path.join(folder, 'node_modules/nswag/bin/binaries/Win');
    for (const { document, namespace, name } of CLIENTS) {
      const { stdout } = await run('mono', [
        path.join(binaries, 'NSwag.exe'),
        'openapi2csclient',
        `/input:${path.join(root, 'openapi', `${document}.json`)}`,
        `/output:${path.join(folder, `${name}.cs`)}`,
        `/namespace:${namespace}`,
        `/classname:${name}`,
        '/operationGenerationMode:SingleClientFromOperationId',
        '/generateOptionalPropertiesAsNullable:true',
        // Calls name their arguments, so that a new query parameter does not break them.
        '/generateOptionalParameters:true',
      ]);
      assert.match(stdout, /Code has been successfully written/);
    }
    await copyFile(path.join(binaries, 'Newtonsoft.Json.dll'), path.join(folder, 'Newtonsoft.Json.dll'));
    await writeFile(path.join(folder, 'Program.cs'), PROGRAM);
    await writeFile(path.join(folder, 'Settings.cs'), SETTINGS);
    const references = ['Newtonsoft.Json', 'System.Net.Http', 'System.ComponentModel.DataAnnotations'];
    const flags = ['-nowarn:162', '-warnaserror', '-out:program.exe', ...references.map((name) => `-r:${name}.dll`)];
    const sources = ['Program.cs', 'Settings.cs', ...CLIENTS.map(({ name }) => `${name}.cs`)];
    await run('mcs', [...flags, '-r:System.Runtime.Serialization.dll', ...sources], { cwd: folder });
    const { stdout } = await run('mono', ['program.exe'], { cwd: folder, env: { ...process.env, ...env } });
    assert.deepEqual(stdout.trim().split('\n'), [
      'repeated True',
      'changed 2 Printer works new',
      'refused 409 True',
      'feed True',
      'history ObjectCreated SlaStarted SlaStarted ObjectUpdated CommentAdded',
      'listed 1 INC0000001',
      'keys 1 csharp True',
    ]);
  });
});
