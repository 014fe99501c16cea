# SPDX-License-Identifier: BSD-3-Clause
"""The part of SARIF 2.1.0 that the checker's report uses: required properties, types, allowed values.

Every object may have the listed properties only, so that a new property is looked up in the standard first.
"""
import re

LEVELS = {'none', 'note', 'warning', 'error'}

MESSAGE = {'text!': str}
ARTIFACT = {'uri': str, 'uriBaseId': str}
PHYSICAL = {'artifactLocation': ARTIFACT, 'region': {'startLine': int}}
LOGICAL = {'fullyQualifiedName': str, 'kind': {'function'}}
LOCATION = {'id': int, 'physicalLocation': PHYSICAL, 'logicalLocations': [LOGICAL], 'message': MESSAGE}
STACK = {'message': MESSAGE, 'frames!': [{'location': LOCATION, 'module': str}]}
RULE = {'id!': str, 'name': str, 'shortDescription': MESSAGE, 'fullDescription': MESSAGE, 'help': MESSAGE,
        'defaultConfiguration': {'level': LEVELS}, 'properties': {'tags': [str]}}
RESULT = {'ruleId': str, 'ruleIndex': int, 'level': LEVELS, 'message!': MESSAGE, 'locations': [LOCATION],
          'stacks': [STACK], 'relatedLocations': [LOCATION], 'occurrenceCount': int,
          'suppressions': [{'kind!': {'inSource', 'external'}, 'justification': str}], 'partialFingerprints': dict}
RUN = {'tool!': {'driver!': {'name!': str, 'version': str, 'rules': [RULE]}}, 'originalUriBaseIds': dict,
       'invocations': [{'executionSuccessful!': bool}], 'results': [RESULT]}
LOG = {'$schema': str, 'version!': {'2.1.0'}, 'runs!': [RUN]}


def check_shape(value, shape, path):
    if isinstance(shape, type):
        assert isinstance(value, shape) and not (shape is int and isinstance(value, bool)), f'{path}: {value!r}'
    elif isinstance(shape, set):
        assert value in shape, f'{path}: {value!r}'
    elif isinstance(shape, list):
        assert isinstance(value, list), path
        for i, item in enumerate(value):
            check_shape(item, shape[0], f'{path}[{i}]')
    else:
        allowed = {key.rstrip('!'): kind for key, kind in shape.items()}
        required = {key[:-1] for key in shape if key.endswith('!')}
        assert isinstance(value, dict) and required <= set(value) <= set(allowed), f'{path}: {sorted(value)}'
        for key, item in value.items():
            check_shape(item, allowed[key], f'{path}.{key}')


def check_uris(value, bases):
    """URIs have no characters that must be encoded; relative ones have a base."""
    if isinstance(value, list):
        for item in value:
            check_uris(item, bases)
    elif isinstance(value, dict):
        if 'uri' in value:
            assert re.fullmatch(r"[A-Za-z0-9\-._~:/+,@%]+", value['uri']), value
            assert value['uri'].startswith('file:///') or value.get('uriBaseId') in bases, value
        if 'startLine' in value:
            assert value['startLine'] >= 1, value
        for item in value.values():
            check_uris(item, bases)


def check(log):
    check_shape(log, LOG, 'log')
    for run in log['runs']:
        bases = run['originalUriBaseIds']
        for base in bases.values():
            assert base['uri'].endswith('/'), base
        check_uris(run, bases)
        rules = run['tool']['driver']['rules']
        assert len({rule['id'] for rule in rules}) == len(rules)
        for result in run['results']:
            assert rules[result['ruleIndex']]['id'] == result['ruleId'], result['ruleId']
            assert result['occurrenceCount'] >= 1 and result['locations']
